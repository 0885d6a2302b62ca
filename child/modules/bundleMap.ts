import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/** Where the built form of a module lies: source path → bundle path, both relative to the pack's folder (F16). */
export interface BundleMap {
  /** Every module path it has a bundle for. */
  readonly sources: readonly string[];
  /** The file to load for a module path, or undefined when the map has none and the module is loaded as named. */
  fileOf(modulePath: string, root: string): string | undefined;
}

/** Reads a bundle map: a JSON object of non-empty strings. The map is the operator's, so its paths may lie anywhere. */
export async function readBundleMap(path: string): Promise<BundleMap | { problem: string }> {
  const problem = (why: string): { problem: string } => ({ problem: `Cannot read the bundle map ${path}: ${why}` });
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    return problem(error instanceof Error ? error.message : String(error));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return problem('expected a JSON object');
  const entries = new Map<string, string>();
  for (const [source, bundle] of Object.entries(value)) {
    if (typeof bundle !== 'string' || bundle === '') return problem(`expected a path for "${source}"`);
    entries.set(source, bundle);
  }
  return {
    sources: [...entries.keys()],
    fileOf(modulePath, root) {
      const bundle = entries.get(modulePath);
      return bundle === undefined ? undefined : resolve(root, bundle);
    },
  };
}
