import { mkdir, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { troubleOf } from '../../config/files.ts';
import { UsageError } from '../command.ts';
import type { Io, Options } from '../command.ts';
import { splitPair } from './input.ts';
import { printable } from '../printable.ts';

/** Options about what stands in for a runtime in calls to `packgate dev`. */
export const STAND_IN_OPTIONS = {
  file: {
    type: 'string',
    value: 'name=path',
    isRepeatable: true,
    help: 'a file that the tool can read by that name (packgate dev)',
  },
  files: { type: 'string', value: 'dir', help: 'where to save the files that the tool stores (packgate dev)' },
  'no-stand-ins': { type: 'boolean', help: 'call without what packgate dev has in place of a runtime' },
} as const satisfies Options;

/** The values of those options that were given. */
export interface StandInsGiven {
  readonly file?: readonly string[];
  readonly files?: string;
  readonly 'no-stand-ins'?: boolean;
}

/** A file for the tool to read. */
export interface GivenFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** As many as one call takes, and as large as one may be. */
const MAX_FILES = 10;
const MAX_BYTES = 32 * 2 ** 20;
const MAX_NAME_CHARACTERS = 255;

/** @throws {UsageError} when one cannot be read, or not be given. */
export async function readFiles(pairs: readonly string[], io: Io): Promise<readonly GivenFile[]> {
  if (pairs.length > MAX_FILES) throw new UsageError(`--file is given ${pairs.length} times`, 'A call has 10 at most.');
  const files = await Promise.all(pairs.map((pair) => readOne(pair, io)));
  const names = new Set(files.map(({ name }) => name));
  if (names.size === files.length) return files;
  throw new UsageError('--file gives one name to two files', 'Give each a name of its own.');
}

async function readOne(pair: string, { cwd }: Io): Promise<GivenFile> {
  const [name, path] = splitPair(pair, '--file', 'name=path');
  if (name === '.' || name === '..' || name.length > MAX_NAME_CHARACTERS) {
    throw new UsageError(`--file ${printable(name)}: no tool can read it by that name`, 'Give it another one.');
  }
  const file = resolve(cwd, path);
  try {
    // Before it is read: a device has no end.
    const stats = await stat(file);
    if (!stats.isFile()) throw new UsageError(`--file ${printable(path)} is no file`, 'Name one.');
    if (stats.size > MAX_BYTES) {
      throw new UsageError(`--file ${printable(path)} has ${stats.size} bytes`, `${MAX_BYTES} is the most.`);
    }
    return { name, bytes: await readFile(file) };
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`--file ${printable(path)} cannot be read: ${troubleOf(cause)}`, 'Name another file.');
  }
}

/**
 * The folder of `--files`, made if need be: not after the call is it found out that nothing can be saved there.
 * @throws {UsageError} when it cannot be one.
 */
export async function makeSaveFolder(folder: string, { cwd }: Io): Promise<string> {
  const path = resolve(cwd, folder);
  try {
    await mkdir(path, { recursive: true });
    return path;
  } catch (cause) {
    throw new UsageError(`--files ${printable(folder)} cannot be made: ${troubleOf(cause)}`, 'Name another folder.');
  }
}
