import { realpathSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';

import { describeLoadFailure } from '../loadFailure.ts';
import { readBundleMap } from '../modules/bundleMap.ts';
import { loadModules } from '../modules/load.ts';
import type { Loaded, LoadOptions } from '../modules/load.ts';
import { insideRoot } from '../modules/paths.ts';
import { readPackIndex } from './packIndex.ts';
import type { PackIndex } from './packIndex.ts';
import type { ServeSettings } from './settings.ts';

/** Why a start ends: one text per problem, fit for people (C12). */
export class BootFailure extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'BootFailure';
    this.problems = problems;
  }
}

/** A pack that was found, not yet loaded. */
export interface LocatedPack {
  readonly index: PackIndex;
  /** The pack's folder, links resolved. */
  readonly root: string;
  /** Module path of the index → file to load. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Reads the index and finds the file of each module path in it. Every module must be there before any is loaded, and
 * when some are missing only they are reported (C13). Throws a `BootFailure`.
 */
export async function locatePack(settings: ServeSettings): Promise<LocatedPack> {
  const read = await readPackIndex(settings.index);
  if ('problems' in read) throw new BootFailure(read.problems);
  const { index } = read;
  const map = settings.bundleMap === undefined ? undefined : await readBundleMap(settings.bundleMap);
  if (map !== undefined && 'problem' in map) throw new BootFailure([map.problem]);
  if (statOf(settings.moduleRoot)?.isDirectory() !== true) {
    throw new BootFailure([`There is no folder ${settings.moduleRoot} (--module-root)`]);
  }
  const root = realpathSync(settings.moduleRoot);

  const files = new Map<string, string>();
  const problems: string[] = [];
  for (const modulePath of new Set(modulesOf(index).map((entry) => entry.modulePath))) {
    const file = map?.fileOf(modulePath, root) ?? insideRoot(root, modulePath);
    if (file === undefined) {
      problems.push(`Module outside the pack's folder: ${modulePath}; name it relative to the folder`);
    } else if (statOf(file)?.isFile() !== true) {
      problems.push(`Missing module: ${modulePath}`);
    } else {
      files.set(modulePath, file);
    }
  }
  if (problems.length > 0) throw new BootFailure(problems);
  return { index, root, files };
}

/**
 * Loads every module, by module path. All that fail are reported, each with the tools and checks that need it (C13).
 * Throws a `BootFailure`.
 */
export async function importPack(
  { index, root, files }: LocatedPack,
  host: Omit<LoadOptions, 'root'>,
): Promise<ReadonlyMap<string, Loaded>> {
  const { buildDir, onLoopEmpty } = host;
  const loaded = await loadModules([...files.values()], { root, buildDir, onLoopEmpty });
  const modules = new Map<string, Loaded>();
  for (const [modulePath, file] of files) {
    const module = loaded.get(file);
    if (module !== undefined) modules.set(modulePath, module);
  }
  const problems: string[] = [];
  for (const { id, modulePath } of modulesOf(index)) {
    const module = modules.get(modulePath);
    if (module?.ok !== false) continue;
    problems.push(`${id}: ${describeLoadFailure(module.error, { root, path: modulePath }).text}`);
  }
  if (problems.length > 0) throw new BootFailure(problems);
  return modules;
}

/** Of nothing that is there, and of nothing that can be there: a name that is too long, a loop of links. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function modulesOf({ tools, checks }: PackIndex): readonly { readonly id: string; readonly modulePath: string }[] {
  return [...tools, ...checks];
}
