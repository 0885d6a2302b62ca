import { readFileSync, statSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { isTypeScript } from './paths.ts';

/** What packs import without having it installed: always the copy of the service that runs them. */
export const OWN_PACKAGE = 'packgate/pack';

/** The file of `packgate/pack`; undefined in a build that does not lie in its package. */
export function ownPackageFile(): string | undefined {
  try {
    return nodeModule.createRequire(import.meta.url).resolve(OWN_PACKAGE);
  } catch {
    return undefined;
  }
}

let isResolvable = false;

/**
 * Makes `packgate/pack` resolve in every module that this process loads from now on, with `import` and `require`. Where
 * Node lets us do so in its own thread (22.15 and later) that is free. An older one starts a thread for it, 45 ms of a
 * boot: there it is done only when one of the plain modules in `files`, or in what they import by a relative path, names
 * the package.
 */
export function resolveOwnPackage(files: readonly string[]): void {
  if (isResolvable) return;
  const { registerHooks } = nodeModule as { registerHooks?: (hooks: { resolve: ResolveHook }) => void };
  if (registerHooks === undefined && !areNaming(files)) return;
  const file = ownPackageFile();
  if (file === undefined) return;
  const url = pathToFileURL(file).href;
  if (registerHooks === undefined) {
    nodeModule.register(HOOK_THREAD, { data: url });
    resolveRequires(file);
  } else {
    registerHooks({ resolve: (name, context, next) => (name === OWN_PACKAGE ? own(url) : next(name, context)) });
  }
  isResolvable = true;
}

interface Resolved {
  readonly url: string;
  readonly shortCircuit?: boolean;
}

type ResolveHook = (name: string, context: unknown, next: (name: string, context: unknown) => Resolved) => Resolved;

function own(url: string): Resolved {
  return { url, shortCircuit: true };
}

/** The same hook for the thread of older Nodes. Its text is here because a thread loads a module of its own. */
const HOOK_THREAD = `data:text/javascript,${encodeURIComponent(`
let url;
export const initialize = (given) => { url = given; };
export const resolve = (name, context, next) =>
  name === '${OWN_PACKAGE}' ? { url, shortCircuit: true } : next(name, context);
`)}`;

/** The thread's hooks do not see `require`: Node's own way to find a file is all there is before 22.15. */
function resolveRequires(file: string): void {
  const loader = nodeModule.Module as unknown as { _resolveFilename: (name: string, ...rest: unknown[]) => string };
  const resolveFilename = loader._resolveFilename;
  loader._resolveFilename = (name, ...rest) =>
    name === OWN_PACKAGE ? file : resolveFilename.call(loader, name, ...rest);
}

/** Whether the package is named in these files or in what they import. Packages are not followed: they have their own. */
function areNaming(files: readonly string[]): boolean {
  const queue = files.filter((file) => !isTypeScript(file));
  const seen = new Set(queue);
  for (const file of queue) {
    const text = textOf(file);
    if (text.includes(OWN_PACKAGE)) return true;
    for (const [, name = ''] of text.matchAll(/['"](\.{1,2}\/[^'"\n]*)['"]/g)) {
      const found = fileOf(resolve(dirname(file), name));
      if (found !== undefined && !seen.has(found)) {
        seen.add(found);
        queue.push(found);
      }
    }
  }
  return false;
}

/** `require` may leave out the ending. */
function fileOf(path: string): string | undefined {
  const endings = ['.js', '.cjs', '.mjs'];
  const candidates = endings.includes(extname(path))
    ? [path]
    : [...endings.map((end) => path + end), `${path}/index.js`];
  return candidates.find(isFile);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Loading it says what is wrong.
    return '';
  }
}
