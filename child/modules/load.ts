import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';

import { isTypeScript } from './paths.ts';

/** A module's exports, or what kept it from loading. */
export type Loaded =
  | { readonly ok: true; readonly exports: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly error: unknown };

export interface LoadOptions {
  /** The pack's folder, links resolved. */
  readonly root: string;
  /** Gives the folder for what is built from TypeScript; asked for only when there is some. */
  readonly buildDir: () => string;
  /** Tells when nothing is left that could wake the process; returns the unsubscription. */
  readonly onLoopEmpty: OnLoopEmpty;
}

export type OnLoopEmpty = (listener: () => void) => () => void;

/**
 * Loads modules by absolute path, each once: plain ones by their file URL, TypeScript ones from a bundle (F18).
 * One failure does not keep the others from loading.
 */
export async function loadModules(paths: readonly string[], options: LoadOptions): Promise<Map<string, Loaded>> {
  const sources = [...new Set(paths)];
  const urls = new Map<string, string | Error>(sources.map((path) => [path, pathToFileURL(path).href]));
  const typed = sources.filter(isTypeScript);
  if (typed.length > 0) {
    for (const [path, built] of await build(typed, options)) urls.set(path, built);
    // Stack traces then name the source's lines, not the bundle's.
    process.setSourceMapsEnabled(true);
  }
  const loaded = new Map<string, Loaded>();
  // One after the other: modules of one pack often share helpers, and messages keep the index's order.
  for (const [path, url] of urls) {
    loaded.set(path, url instanceof Error ? { ok: false, error: url } : await importModule(path, url, options));
  }
  return loaded;
}

/** A failure of the whole build, such as a folder that cannot be written, is one of each module. */
async function build(paths: readonly string[], options: LoadOptions): Promise<Map<string, string | Error>> {
  try {
    // Loaded only here: esbuild costs a process and 30 ms that a plain pack need not pay.
    const { bundle } = await import('./bundle.ts');
    return await bundle(paths, options);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return new Map(paths.map((path) => [path, new Error(`it cannot be built: ${why}`, { cause })]));
  }
}

async function importModule(path: string, url: string, options: LoadOptions): Promise<Loaded> {
  try {
    return { ok: true, exports: await importOrStall(path, url, options) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) return { ok: false, error };
    // V8 says what is wrong, but not where: not even in which of the imported files.
    const { findSyntaxError } = await import('./bundle.ts');
    return { ok: false, error: (await findSyntaxError(path, options)) ?? error };
  }
}

/** A module whose top-level await never settles would let the process run out of work and end without a word (C15). */
function importOrStall(
  path: string,
  url: string,
  { root, onLoopEmpty }: LoadOptions,
): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    const unsubscribe = onLoopEmpty(() => {
      const name = relative(root, path);
      reject(new Error(`a top-level await in ${name}, or in what it imports, never settles`));
    });
    import(url).then(resolve, reject).finally(unsubscribe);
  });
}
