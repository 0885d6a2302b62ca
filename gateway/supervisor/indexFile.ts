import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { StartFailure } from './startFailure.ts';

/** What the index says of itself: what a service that serves it must say, too. */
export interface IndexFacts {
  readonly path: string;
  readonly packId: string;
  readonly packVersion: string;
  readonly artifactVersion: string;
  /** `sha256:` and the hex SHA-256 of the file's bytes (D28). */
  readonly hash: string;
}

/** @throws {StartFailure} `index-failed`, when the file cannot be read or is no index of version 1 (E1). */
export async function readIndexFacts(path: string): Promise<IndexFacts> {
  const bytes = await readFile(path).catch((cause: Error) => {
    throw new StartFailure('index', 'index-failed', `the index cannot be read: ${cause.message}`);
  });
  const index = parse(bytes, path);
  if (index.v !== 1) throw new StartFailure('index', 'index-failed', `${path} is not an index of version 1`);
  const [packId, packVersion, artifactVersion] = ['packId', 'packVersion', 'artifactVersion'].map((key) => {
    const value = index[key];
    if (typeof value === 'string' && value !== '') return value;
    throw new StartFailure('index', 'index-failed', `${path} has no ${key}`);
  }) as [string, string, string];
  const hash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  return { path, packId, packVersion, artifactVersion, hash };
}

function parse(bytes: Buffer, path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (cause) {
    throw new StartFailure('index', 'index-failed', `${path} is not JSON: ${(cause as Error).message}`);
  }
  throw new StartFailure('index', 'index-failed', `${path} is not a JSON object`);
}
