import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { compileGlob } from './glob.ts';
import type { Glob } from './glob.ts';
import { KINDS, pluralOf } from './kind.ts';
import type { Kind } from './kind.ts';

/** A file in which a primitive is looked for. */
export interface Candidate {
  /** Relative to the pack's folder, forward slashes: the index's module path. */
  readonly path: string;
  readonly kind: Kind;
  /** It lies in its kind's default folder and must be of that kind; elsewhere the kind is detected (E24). */
  readonly isInDefaultFolder: boolean;
}

/** Discovery patterns by kind; a missing one is the default (E23). */
export type Patterns = Readonly<Partial<Record<`${Kind}s`, string>>>;

/** All files of the pack that the patterns find, sorted by path; one that is found twice keeps its first kind (E24). */
export function discover(packDir: string, patterns: Patterns): Candidate[] {
  return candidatesOf(patterns, (glob) => walk(packDir, glob.base, glob));
}

/** The same among the sources of a bundle map: where only bundles are shipped, there are no sources to walk (F16). */
export function discoverIn(sources: readonly string[], patterns: Patterns): Candidate[] {
  const visible = sources.filter((path) => {
    const folders = path.split('/');
    return !isSkippedFile(folders.pop() ?? '') && !folders.some(isSkippedFolder);
  });
  return candidatesOf(patterns, (glob) => visible.filter((path) => glob.matches(path)));
}

function candidatesOf(patterns: Patterns, find: (glob: Glob) => Iterable<string>): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const kind of KINDS) {
    const folder = pluralOf(kind);
    for (const path of find(compileGlob(patterns[folder] ?? defaultPattern(kind)))) {
      if (!found.has(path)) found.set(path, { path, kind, isInDefaultFolder: path.startsWith(`${folder}/`) });
    }
  }
  return [...found.values()].sort((left, right) => compare(left.path, right.path));
}

/** Where the files of a kind are when the configuration does not say (E23). */
export function defaultPattern(kind: Kind): string {
  return `${pluralOf(kind)}/**/*.{ts,js,mjs}`;
}

/** By UTF-16 code unit, the order of everything in an index (E10, E11). */
export function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function* walk(packDir: string, folder: string, glob: Glob): Generator<string> {
  let entries;
  try {
    entries = readdirSync(join(packDir, folder), { withFileTypes: true });
  } catch {
    // A pack need not have every folder.
    return;
  }
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    // Links are neither files nor folders here, so they are skipped (E25).
    if (entry.isDirectory() && !isSkippedFolder(entry.name)) yield* walk(packDir, path, glob);
    else if (entry.isFile() && !isSkippedFile(entry.name) && glob.matches(path)) yield path;
  }
}

function isSkippedFolder(name: string): boolean {
  return name === 'node_modules' || name.startsWith('.') || name.startsWith('_');
}

/** Hidden files, tests, type declarations and helpers, whose name begins with `_` (E25, E26). */
function isSkippedFile(name: string): boolean {
  return (
    name.startsWith('.') ||
    name.startsWith('_') ||
    /\.(test|spec)\.([cm]?js|[cm]?ts)$/.test(name) ||
    /\.d\.[cm]?ts$/.test(name)
  );
}
