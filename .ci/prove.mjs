// Runs a prover: `node .ci/prove.mjs NAME [options]` runs `test/prove/NAME.ts` against what is built in `dist/`.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [name = '', ...args] = process.argv.slice(2);
const program = join(root, 'test', 'prove', `${name}.ts`);
if (!/^\w+$/.test(name) || !existsSync(program)) {
  console.error(`usage: node .ci/prove.mjs NAME [options]; there is no test/prove/${name}.ts`);
  process.exit(2);
}

/** Sources find fixtures beside themselves, wherever their bundle is. */
const ownUrls = {
  name: 'own-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const url = JSON.stringify(pathToFileURL(path).href);
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', url), loader: 'ts' };
    });
  },
};

// Inside the project, so that packages are found as from the sources.
const cache = join(root, 'node_modules', '.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'prove-'));
let loaded;
try {
  const outfile = join(folder, 'prover.mjs');
  await build({
    absWorkingDir: root,
    stdin: {
      contents: `export { prover } from './test/prove/${name}.ts'; export { runProver } from './test/prove/prover.ts';`,
      resolveDir: root,
    },
    outfile,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    plugins: [ownUrls],
    logLevel: 'warning',
  });
  loaded = await import(pathToFileURL(outfile).href);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // A second one does not wait for what is being cleared up.
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort();
  });
}
const code = await loaded.runProver(name, loaded.prover, {
  args,
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  interrupt: interrupt.signal,
});
// What an interrupted run still waits for is of no interest; what was printed is.
process.stdout.write('', () => process.exit(code));
