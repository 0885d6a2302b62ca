import { readEnv } from './environment.ts';
import type { Path } from './problem.ts';
import type { RawSettings } from './raw.ts';
import type { Surroundings } from './surroundings.ts';

/** One of the places where a deployment's settings may stand: `defaults`, its tenant, its pack. */
export interface Level {
  readonly path: Path;
  readonly values: RawSettings;
  /** `pack` where the folder is given in the short form, else `path`. */
  readonly folderKey: 'pack' | 'path';
  /** Relative paths written here count from it. */
  readonly folder: string;
  /** `env` and `envFiles`, resolved once for all deployments that share the level. */
  readonly env: ReadonlyMap<string, string>;
}

/** Farthest first. */
export type Levels = readonly Level[];

/** A value, and where it is written. */
export interface Found<T> {
  readonly value: T;
  readonly path: Path;
  /** From which it counts if it is a relative path. */
  readonly folder: string;
}

export async function readLevel(
  path: Path,
  values: RawSettings & { readonly pack?: string },
  surroundings: Surroundings,
): Promise<Level> {
  const env = await readEnv(values, path, surroundings);
  const { folder } = surroundings;
  if (values.pack === undefined) return { path, values, folderKey: 'path', folder, env };
  return { path, values: { ...values, path: values.pack }, folderKey: 'pack', folder, env };
}

/** The nearest value of a setting. */
export function nearestOf<K extends keyof RawSettings>(
  levels: Levels,
  key: K,
): Found<NonNullable<RawSettings[K]>> | undefined {
  const level = levels.findLast(({ values }) => values[key] !== undefined);
  const value = level?.values[key];
  if (level === undefined || value === undefined) return undefined;
  return { value, path: [...level.path, key === 'path' ? level.folderKey : key], folder: level.folder };
}

/** The nearest value of a setting that is a part of another: `queue.size`. */
export function nearestPartOf<K extends 'queue' | 'restart' | 'recycle', P extends keyof NonNullable<RawSettings[K]>>(
  levels: Levels,
  key: K,
  part: P,
): Found<NonNullable<NonNullable<RawSettings[K]>[P]>> | undefined {
  for (const { values, path, folder } of levels.toReversed()) {
    const value = (values[key] as NonNullable<RawSettings[K]> | undefined)?.[part];
    if (value !== undefined && value !== null) return { value, path: [...path, key, part as string], folder };
  }
  return undefined;
}
