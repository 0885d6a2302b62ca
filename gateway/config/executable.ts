import { join, resolve } from 'node:path';
import type { RuntimeSettings } from './configuration.ts';
import { describe } from './describe.ts';
import { isExecutable, isFile, isOnPath } from './files.ts';
import { nearestOf } from './level.ts';
import type { Found, Levels } from './level.ts';
import { present } from './raw.ts';
import type { Surroundings } from './surroundings.ts';

/** What runs a pack. Undefined, and reported, where that is not known. */
export async function readRuntime(
  kind: RuntimeSettings['kind'] | undefined,
  levels: Levels,
  folder: Found<string> | undefined,
  surroundings: Surroundings,
): Promise<RuntimeSettings | undefined> {
  switch (kind) {
    case 'node': {
      const node = nearestOf(levels, 'node');
      if (node === undefined) return { kind, node: process.execPath };
      return { kind, node: await readExecutable(node, levels, surroundings) };
    }
    case 'python': {
      const python = nearestOf(levels, 'python') ?? (await defaultPython(folder));
      if (python === undefined) return undefined;
      return { kind, python: await readExecutable(python, levels, surroundings) };
    }
    case 'command':
      return readCommand(levels, surroundings);
    case undefined:
      return undefined;
  }
}

async function readCommand(levels: Levels, surroundings: Surroundings): Promise<RuntimeSettings | undefined> {
  const found = nearestOf(levels, 'command');
  const [program, ...args] = present(found?.value).map(([, text]) => text);
  if (found !== undefined && program !== undefined) {
    const path = [...found.path, 0];
    return {
      kind: 'command',
      command: [await readExecutable({ ...found, value: program, path }, levels, surroundings), ...args],
    };
  }
  const { report } = surroundings;
  const runtime = nearestOf(levels, 'runtime');
  if (runtime !== undefined && !levels.some(({ path }) => report.isBad([...path, 'command']))) {
    report.problem(runtime.path, { expected: 'a "command" where the runtime is "command"', got: 'none' });
  }
  return undefined;
}

/** A path (with a slash) is absolute and must exist; a bare name is left to the PATH of the pack's process. */
async function readExecutable(found: Found<string>, levels: Levels, surroundings: Surroundings): Promise<string> {
  const { env, report } = surroundings;
  if (!found.value.includes('/')) {
    const path = levels.findLast((level) => level.env.has('PATH'))?.env.get('PATH') ?? env.PATH;
    // It may be there when the pack is started, and the other tenants can be served without it.
    if (path !== undefined && !(await isOnPath(found.value, path)))
      report.warn(found.path, `there is no ${describe(found.value)} on PATH`);
    return found.value;
  }
  const path = resolve(found.folder, found.value);
  if (await isExecutable(path)) return path;
  const trouble = (await isFile(path)) ? 'which may not be executed' : 'which does not exist';
  report.problem(found.path, { expected: 'an executable', got: `${describe(found.value)}, ${trouble}` });
  return path;
}

async function defaultPython(folder: Found<string> | undefined): Promise<Found<string> | undefined> {
  if (folder === undefined) return undefined;
  const own = join(folder.value, '.venv', 'bin', 'python');
  return { ...folder, value: (await isExecutable(own)) ? own : 'python3' };
}
