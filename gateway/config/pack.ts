import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { detectRuntime } from './detect.ts';
import { describe } from './describe.ts';
import { isFile, isFolder, troubleOf } from './files.ts';
import { nearestOf } from './level.ts';
import type { Found, Levels } from './level.ts';
import type { RuntimeSettings } from './configuration.ts';
import type { Surroundings } from './surroundings.ts';

/** A pack's folder, absolute. Undefined, and reported, where there is none. */
export async function readFolder(levels: Levels, surroundings: Surroundings): Promise<Found<string> | undefined> {
  const { report } = surroundings;
  const found = nearestOf(levels, 'path');
  if (found === undefined) {
    const nearest = levels.at(-1)?.path ?? [];
    if (!['pack', 'packs', 'path'].some((key) => report.isBad([...nearest, key]))) {
      const isTenant = nearest.length === 2;
      const expected = isTenant ? '"pack" (the folder of its pack) or "packs"' : "a path: the pack's folder";
      report.problem(nearest, { expected, got: 'neither of them', at: 'key' });
    }
    return undefined;
  }
  const path = resolve(found.folder, found.value);
  if (await isFolder(path)) return { ...found, value: path };
  const got = (await isFile(path))
    ? `the file ${describe(found.value)}`
    : `${describe(found.value)}, which does not exist`;
  report.problem(found.path, { expected: "the path of the pack's folder", got });
  return undefined;
}

/** What serves the pack: as configured, else what its folder says. Undefined, and reported, where neither does. */
export async function readRuntimeKind(
  levels: Levels,
  folder: Found<string> | undefined,
  { report }: Surroundings,
): Promise<RuntimeSettings['kind'] | undefined> {
  const configured = nearestOf(levels, 'runtime')?.value;
  if (configured !== undefined) return configured;
  if (nearestOf(levels, 'command') !== undefined) return 'command';
  if (folder === undefined) return undefined;
  const detected = await detectRuntime(folder.value);
  if ('kind' in detected) return detected.kind;
  report.problem(folder.path, {
    expected: 'a folder with a kindgi.config.{ts,mts,mjs,js,cjs} or a pyproject.toml with [tool.kindgi]',
    got: `one with ${detected.trouble}`,
    todo: 'Set "runtime" if it is a pack all the same',
  });
  return undefined;
}

/** The index that is served, absolute; undefined where it is built at start (or, reported, where it cannot be). */
export async function readIndex(
  levels: Levels,
  folder: Found<string> | undefined,
  kind: RuntimeSettings['kind'] | undefined,
  surroundings: Surroundings,
): Promise<string | undefined> {
  const { report, sources } = surroundings;
  const configured = nearestOf(levels, 'index');
  if (configured !== undefined) {
    const path = resolve(configured.folder, configured.value);
    sources.add(path);
    const trouble = await troubleWithIndex(path);
    if (trouble !== undefined)
      report.problem(configured.path, { expected: 'an index file of version 1', got: trouble });
    return path;
  }
  if (folder === undefined) return undefined;
  for (const path of [join(folder.value, 'dist', 'index.json'), join(folder.value, 'index.json')]) {
    if (!(await isFile(path))) continue;
    sources.add(path);
    const trouble = await troubleWithIndex(path);
    // It may be mended before the pack is needed, and the other tenants can be served without it.
    if (trouble !== undefined) report.warn(folder.path, `${path} is what will be served, but is ${trouble}`);
    return path;
  }
  if (kind === 'command') {
    report.problem(folder.path, {
      expected: 'an index (dist/index.json or index.json) in the folder of a pack that a command serves',
      got: 'none',
      todo: 'Build it, or set "index"',
    });
  }
  return undefined;
}

async function troubleWithIndex(path: string): Promise<string | undefined> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    return error instanceof SyntaxError ? 'a file that is not JSON' : troubleOf(error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'JSON, but no object';
  const { v } = value as { v?: unknown };
  return v === 1 ? undefined : `a file whose "v" is ${v === undefined ? 'missing' : describe(v)}`;
}
