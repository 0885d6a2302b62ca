// Makes a checkout ready to run: installs the locked dependencies and builds `dist/`, each only when it is due.
// Used by `npm start` and `npm test`, so that a fresh clone needs no other step.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const force = process.argv.includes('--force');
const at = (...parts) => join(root, ...parts);

function stampOf(...texts) {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('hex');
}

function isDue(stampFile, stamp) {
  return !existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp;
}

function run(command, args) {
  // Output of the tools goes to stderr: what a program prints on stdout afterwards stays clean.
  execFileSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
}

function install() {
  const stamp = stampOf(readFileSync(at('package-lock.json')), process.version, process.arch);
  const stampFile = at('node_modules', '.packgate-lock');
  if (!isDue(stampFile, stamp)) return false;
  console.error('packgate: installing dependencies (npm ci) …');
  run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stampFile, stamp);
  return true;
}

function sources(folder) {
  return readdirSync(at(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function build(isFresh) {
  const files = ['tsconfig.json', 'tsconfig.build.json', 'package.json', '.ci/bundle.mjs'].map((name) => at(name));
  for (const folder of ['gateway', 'child', 'shared', 'deploy']) files.push(...sources(folder));
  const stamp = stampOf(...files.map((file) => `${file}:${statSync(file).size}:${stampOf(readFileSync(file))}`));
  const stampFile = at('dist', '.stamp');
  if (!isFresh && !force && !isDue(stampFile, stamp)) return;
  console.error('packgate: building …');
  // Built beside it and moved into place: whatever runs from `dist` meanwhile keeps finding its files.
  const fresh = at(`dist.new-${process.pid}`);
  try {
    const tsc = at('node_modules', 'typescript', 'bin', 'tsc');
    run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', fresh]);
    run(process.execPath, [at('.ci', 'bundle.mjs'), fresh]);
    writeFileSync(join(fresh, '.stamp'), stamp);
    rmSync(at('dist'), { recursive: true, force: true });
    renameSync(fresh, at('dist'));
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

try {
  build(install());
} catch (error) {
  console.error(`packgate: not ready to run: ${error.message}`);
  process.exit(1);
}
