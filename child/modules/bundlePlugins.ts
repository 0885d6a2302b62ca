import { readFileSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { Loader, Plugin } from 'esbuild';

import { OWN_PACKAGE, ownPackageFile } from './ownPackage.ts';
import { isTypeScript } from './paths.ts';

const RESOLVING = Symbol('resolving');

/**
 * Imports of packages stay imports, of the very file Node would load from the importing file. What a tsconfig's `paths`
 * or a link leads to in the pack's own sources is bundled.
 */
export function packageImports(root: string): Plugin {
  return {
    name: 'package-imports',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (pluginData === RESOLVING || kind === 'entry-point') return undefined;
        const isRequired = kind === 'require-call' || kind === 'require-resolve';
        const own = path === OWN_PACKAGE ? ownPackageFile() : undefined;
        if (own !== undefined) return { path: isRequired ? own : pathToFileURL(own).href, external: true };
        const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: RESOLVING });
        if (found.errors.length > 0 || found.external || !isPackageFile(found.path, root)) return found;
        return { path: isRequired ? found.path : pathToFileURL(found.path).href, external: true };
      });
    },
  };
}

/** Whether Node can and should load the file itself. */
function isPackageFile(path: string, root: string): boolean {
  if (isTypeScript(path) || path.endsWith('.json')) return false;
  return path.includes(`${sep}node_modules${sep}`) || relative(root, path).startsWith('..');
}

/** What a source says about its own place, replaced by names that `sourceUrls` declares in each file. */
export const SOURCE_URL_DEFINES = {
  'import.meta.url': '__packgate_url',
  'import.meta.dirname': '__packgate_dirname',
  'import.meta.filename': '__packgate_filename',
  // Of CommonJS sources; a name that a source declares itself stays its own.
  __dirname: '__packgate_dirname',
  __filename: '__packgate_filename',
} as const;

/** Gives each source its own `import.meta.url` or `__dirname`, in its first line, so that the lines of stack traces stay right. */
export function sourceUrls(): Plugin {
  return {
    name: 'source-urls',
    setup(build) {
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, ({ path }) => {
        const contents = readFileSync(path, 'utf8');
        if (!/import\.meta|__(?:dir|file)name/.test(contents)) return undefined;
        const values = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
        const names = Object.entries(values).map(([name, value]) => `__packgate_${name} = ${JSON.stringify(value)}`);
        return { contents: `const ${names.join(', ')}; ${contents.replace(/^#!.*/, '')}`, loader: loaderOf(path) };
      });
    },
  };
}

function loaderOf(path: string): Loader {
  if (path.endsWith('.tsx')) return 'tsx';
  if (path.endsWith('.jsx')) return 'jsx';
  return isTypeScript(path) ? 'ts' : 'js';
}
