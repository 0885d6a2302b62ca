import { existsSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { BuildFailure, BuildOptions, BuildResult, Message } from 'esbuild';

import { loadBuilder } from './builder.ts';
import { packageImports, sourceUrls, SOURCE_URL_DEFINES } from './bundlePlugins.ts';

export interface BundleOptions {
  /** The pack's folder, links resolved. */
  readonly root: string;
  /** Gives the folder for what is built. */
  readonly buildDir: () => string;
}

/**
 * Turns TypeScript modules into ES modules in the build folder, all of them in one go so that what they share stays
 * shared, and gives for each its URL or why it cannot be built. Packages stay where they are and are imported from
 * there; `import.meta.url` keeps naming the source, so that files beside it are found (F18).
 */
export async function bundle(paths: readonly string[], options: BundleOptions): Promise<Map<string, string | Error>> {
  const { build } = await loadBuilder();
  const buildDir = options.buildDir();
  const run = (entries: readonly string[]): Promise<Attempt> =>
    attempt(() => build(buildOptions(entries, options.root, buildDir)));
  const failed = new Map<string, Error>();
  let good = [...paths];
  let built = await run(good);
  if (!built.ok) {
    // One bad file fails the whole build; the slow path finds out which, so that the others still load.
    for (const path of paths) {
      const alone = await run([path]);
      if (!alone.ok) failed.set(path, alone.error);
    }
    good = paths.filter((path) => !failed.has(path));
    if (good.length > 0) built = await run(good);
  }
  const urls = built.ok ? writeOutputs(built.result, options.root) : new Map<string, string>();
  return new Map(
    paths.map((path) => [path, failed.get(path) ?? urls.get(realpathSync(path)) ?? new Error('it was not built')]),
  );
}

/** What esbuild finds wrong in a module or in what it imports, with file, line and column; undefined when nothing. */
export async function findSyntaxError(path: string, { root }: { root: string }): Promise<Error | undefined> {
  const { build } = await loadBuilder();
  const checked = await attempt(() => build(buildOptions([path], root, root)));
  return checked.ok ? undefined : checked.error;
}

type Attempt = { readonly ok: true; readonly result: BuildResult } | { readonly ok: false; readonly error: Error };

async function attempt(build: () => Promise<BuildResult>): Promise<Attempt> {
  try {
    return { ok: true, result: await build() };
  } catch (error) {
    const { errors = [] } = error as Partial<BuildFailure>;
    return {
      ok: false,
      error: errors.length > 0 ? new SyntaxError(errors.map(messageText).join('; ')) : (error as Error),
    };
  }
}

function messageText({ text, location }: Message): string {
  return location === null ? text : `${location.file}:${location.line}:${location.column + 1}: ${text}`;
}

/** Nothing is written by the build itself. */
function buildOptions(entryPoints: readonly string[], root: string, buildDir: string): BuildOptions {
  const packageUrl = JSON.stringify(pathToFileURL(join(root, 'package.json')).href);
  return {
    absWorkingDir: root,
    entryPoints: [...entryPoints],
    outdir: buildDir,
    outbase: root,
    // Named by content: instances of one pack share the folder, and none rewrites what another still loads.
    entryNames: '[dir]/[name]-[hash]',
    chunkNames: '[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Exactly Node's own conditions and fields: no `module` entry of a package, which Node would not take.
    conditions: [],
    mainFields: ['main'],
    keepNames: true,
    sourcemap: 'linked',
    define: SOURCE_URL_DEFINES,
    // CommonJS code inside a bundle asks for built-in modules with `require`, which ES modules do not have.
    banner: {
      js: `import { createRequire as __packgate_createRequire } from 'node:module'; const require = __packgate_createRequire(${packageUrl});`,
    },
    logLevel: 'silent',
    plugins: [packageImports(root), sourceUrls()],
  };
}

/** Writes what is not there yet, and gives for each source (links resolved) the URL of what it became. */
function writeOutputs({ outputFiles = [], metafile }: BuildResult, root: string): Map<string, string> {
  for (const { path, contents } of outputFiles) {
    if (existsSync(path)) continue;
    mkdirSync(dirname(path), { recursive: true });
    const temporary = `${path}.tmp-${process.pid}`;
    writeFileSync(temporary, contents);
    renameSync(temporary, path);
  }
  const urls = new Map<string, string>();
  for (const [path, { entryPoint }] of Object.entries(metafile?.outputs ?? {})) {
    if (entryPoint !== undefined) urls.set(realpathSync(join(root, entryPoint)), pathToFileURL(join(root, path)).href);
  }
  return urls;
}
