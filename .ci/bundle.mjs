// Turns the programs of a `tsc` build into as few files as their first moments need, in place: `node .ci/bundle.mjs DIST`.
// The other files of the build stay as they are, for those who import from the package.
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Built-in modules are had with `require`. An `import` of one reads all of its exports, the lazy ones, too: on Node 24
 * `node:http` then loads a WebSocket and an HTTP client that nobody uses, for 40 ms.
 */
const requiredBuiltIns = {
  name: 'required-built-ins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) => {
      // What `require` itself comes from can only be imported.
      if (kind !== 'import-statement' || path === 'node:module') return { path, external: true };
      return { path, namespace: 'built-in' };
    });
    onLoad({ filter: /./, namespace: 'built-in' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

/** `import.meta.url` goes on naming the file that `tsc` makes of a source, whichever file the source ends up in. */
function ownUrls(folder, dist) {
  return {
    name: 'own-urls',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = readFileSync(path, 'utf8');
        if (!contents.includes('import.meta.url')) return undefined;
        const compiled = join(dist, relative(root, path).replace(/\.ts$/, '.js'));
        const [, hashbang = '', code] = /^(#!.*\n)?([^]*)$/.exec(contents);
        const url = `const __ownUrl = new URL(${JSON.stringify(relative(folder, compiled))}, __bundleUrl).href;`;
        return { contents: `${hashbang}${url}${code}`, loader: 'ts' };
      });
    },
  };
}

/**
 * One program: `main.js` and, beside it, what it loads only when it needs it. Not minified, and without source maps: the
 * stack of a fault then names functions and lines of a file that is there, and it starts no slower.
 */
async function bundle(program, dist) {
  const folder = join(dist, program);
  await build({
    absWorkingDir: root,
    entryPoints: [{ in: join(program, 'main.ts'), out: 'main' }],
    outdir: folder,
    chunkNames: 'part-[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // It finds its own program beside its own files.
    external: ['esbuild'],
    define: { 'import.meta.url': '__ownUrl' },
    // CommonJS code inside a bundle asks for modules with `require`, which ES modules do not have.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const __bundleUrl = import.meta.url, require = __createRequire(__bundleUrl);",
    },
    plugins: [requiredBuiltIns, ownUrls(folder, dist)],
    allowOverwrite: true,
    logLevel: 'warning',
  });
  // It belongs to the file that was replaced.
  rmSync(join(folder, 'main.js.map'), { force: true });
}

const [dist] = process.argv.slice(2);
if (dist === undefined) {
  console.error('usage: node .ci/bundle.mjs DIST');
  process.exit(2);
}
for (const program of ['child', 'gateway']) await bundle(program, resolve(dist));
