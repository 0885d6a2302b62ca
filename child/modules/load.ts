import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';

import { resolveOwnPackage } from './ownPackage.ts';
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
  /** How long one module may take; without it as long as it likes, because whoever waits for a service has a limit (C16). */
  readonly patienceMs?: number;
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
  resolveOwnPackage(sources);
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
    // Loaded only here, for packs that have TypeScript.
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
  { root, onLoopEmpty, patienceMs }: LoadOptions,
): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    const place = `a top-level await in ${relative(root, path)}, or in what it imports,`;
    const unsubscribe = onLoopEmpty(() => reject(new Error(`${place} never settles`)));
    const giveUp = (): void => reject(new Error(`${place} never settles, not in ${Number(patienceMs) / 1000} s`));
    // It must not keep the loop from running empty, which tells at once.
    const timer = patienceMs === undefined ? undefined : setTimeout(giveUp, patienceMs).unref();
    import(url).then(resolve, reject).finally(() => {
      clearTimeout(timer);
      unsubscribe();
    });
  });
}
