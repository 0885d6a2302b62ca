import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { isDeeperThan } from '../../shared/protocol/jsonText.ts';
import { MAX_JSON_DEPTH } from '../../shared/protocol/limits.ts';
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

/** An index as it was read, once: what was checked is what is served, whatever becomes of the file. */
export interface IndexFile {
  readonly bytes: Buffer;
  readonly facts: IndexFacts;
}

/** An index of a thousand tools is a few megabytes; it is read by the process that all tenants share. */
export const MAX_INDEX_BYTES = 16 * 1024 * 1024;

/** @throws {StartFailure} `index-failed`, when the file cannot be read or is no index of version 1 (E1). */
export async function readIndexFile(path: string): Promise<IndexFile> {
  const bytes = await read(path).catch((cause: Error) => {
    throw failure(`the index cannot be read: ${cause.message}`);
  });
  const index = parse(bytes, path);
  if (index.v !== 1) throw failure(`${path} is not an index of version 1`);
  const [packId, packVersion, artifactVersion] = ['packId', 'packVersion', 'artifactVersion'].map((key) => {
    const value = index[key];
    if (typeof value === 'string' && value !== '') return value;
    throw failure(`${path} has no ${key}`);
  }) as [string, string, string];
  const hash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  return { bytes, facts: { path, packId, packVersion, artifactVersion, hash } };
}

/** @throws {StartFailure} `index-failed`, when another index is `expected` (`sha256:HEX`). */
export function checkHash({ path, hash }: IndexFacts, expected: string | undefined): void {
  if (expected !== undefined && hash !== expected)
    throw failure(`${path} is not the index that is configured: expected ${expected}, found ${hash}`);
}

/** A hash over what an index says of the pack, and not over when it was made: the same for two runs of an indexer. */
export function undatedHash({ bytes }: IndexFile): string {
  const index = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>;
  const undated = { ...index, artifactVersion: undefined, publishedAt: undefined };
  return createHash('sha256').update(JSON.stringify(undated)).digest('hex');
}

async function read(path: string): Promise<Buffer> {
  // Not to be held up by a pipe that nobody writes to.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error(`${path} is not a file`);
    if (stats.size > MAX_INDEX_BYTES) throw new Error(`${path} has more than ${MAX_INDEX_BYTES} bytes`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function parse(bytes: Buffer, path: string): Record<string, unknown> {
  if (isDeeperThan(bytes, MAX_JSON_DEPTH)) throw failure(`${path} is nested deeper than ${MAX_JSON_DEPTH}`);
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (cause) {
    throw failure(`${path} is not JSON: ${(cause as Error).message}`);
  }
  throw failure(`${path} is not a JSON object`);
}

function failure(message: string): StartFailure {
  return new StartFailure('index', 'index-failed', message);
}
