import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { detectRuntime } from '../config/detect.ts';
import type { RuntimeKind } from '../runtimes/runtime.ts';

/** A folder that is a pack. */
export interface FoundPack {
  /** Absolute, links resolved: a folder that is reached in two ways is one pack. */
  readonly path: string;
  readonly kind: RuntimeKind;
  /** What people call it: the shortest end of its path that no other pack has. */
  readonly name: string;
}

/** How far below a searched folder a pack may be: `packs/team/billing` is 3. */
export const MAX_DEPTH = 4;

/** Folders in which nobody develops packs, and whose changes are nobody's edit. */
const PASSED_OVER = new Set(['node_modules', 'dist', '__pycache__']);

/** What programs write, packs and editors among them: a pack that keeps its data beside its code is not saved by it. */
const WRITTEN = /(?:~|\.(?:log|pid|jsonl|ndjson|tmp|swp|pyc|(?:db|sqlite3?)(?:-wal|-shm|-journal)?))$/;

/** Whether a folder or file of this name is passed over, by the search and by the watch alike. */
export function isPassedOver(name: string): boolean {
  return PASSED_OVER.has(name) || WRITTEN.test(name) || (name.startsWith('.') && name !== '.env');
}

/** Files whose coming and going makes a folder a pack, or no pack any more. */
export function marksPack(name: string): boolean {
  return name === 'pyproject.toml' || /^kindgi\.config\.(?:ts|mts|mjs|js|cjs)$/.test(name);
}

/** The packs in these folders, sorted by path. Packs are not looked for in packs. What cannot be read is passed over. */
export async function findPacks(roots: readonly string[]): Promise<FoundPack[]> {
  const found = new Map<string, RuntimeKind>();
  for (const root of roots) await search(await realpath(root).catch(() => root), 0, found);
  const paths = [...found.keys()].toSorted();
  return paths.map((path) => ({ path, kind: found.get(path) ?? 'node', name: nameOf(path, paths) }));
}

async function search(folder: string, depth: number, found: Map<string, RuntimeKind>): Promise<void> {
  const detected = await detectRuntime(folder);
  if ('kind' in detected) {
    found.set(folder, detected.kind);
    return;
  }
  if (depth === MAX_DEPTH) return;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory() && !isPassedOver(entry.name)) await search(join(folder, entry.name), depth + 1, found);
  }
}

function nameOf(path: string, paths: readonly string[]): string {
  let name = basename(path);
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if (!paths.some((other) => other !== path && other.endsWith(`/${name}`))) break;
    name = `${basename(folder)}/${name}`;
  }
  return name;
}
