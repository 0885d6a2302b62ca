// The whole suite: format, lint, types, then the tests. The last line is the reporter's "N passed, N failed, N skipped".
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name) => join(root, 'node_modules', '.bin', name);

const steps = [
  ['format', bin('prettier'), ['--check', '--log-level=warn', '.']],
  ['lint', bin('oxlint'), ['--type-aware', '--deny-warnings']],
  ['types', bin('tsc'), ['-p', 'tsconfig.json']],
  ['tests', bin('vitest'), ['run', ...process.argv.slice(2)]],
];

for (const [name, command, args] of steps) {
  console.error(`packgate: ${name} …`);
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status === 0) continue;
  console.error(`packgate: ${name} failed${error ? `: ${error.message}` : ''}`);
  process.exit(1);
}
