import { writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** A few bytes less than file systems take, with room for a number. */
const MAX_NAME_BYTES = 200;
const MAX_TRIES = 1_000;

/**
 * A name in a folder of ours for whatever a pack calls its file: no path, nothing hidden, nothing that acts on a
 * terminal.
 */
export function safeName(name: string): string {
  const plain = name
    .replaceAll(/[^\p{L}\p{M}\p{N} ._()+,=@-]/gu, '_')
    .replace(/^[. ]+/, '')
    .trim();
  let safe = plain;
  while (Buffer.byteLength(safe) > MAX_NAME_BYTES) safe = safe.slice(1);
  // What was cut off at the front may have been what stood before a dot.
  safe = safe.replace(/^[. ]+/, '');
  return safe === '' ? 'file' : safe;
}

/** Saves the bytes under that name, or under the next one that is free: nothing is overwritten. Returns the path. */
export async function saveAs(folder: string, name: string, bytes: Buffer): Promise<string> {
  const [safe, extension] = [safeName(name), extname(safeName(name))];
  const stem = safe.slice(0, safe.length - extension.length);
  for (let number = 1; number <= MAX_TRIES; number += 1) {
    const path = join(folder, number === 1 ? safe : `${stem}-${number}${extension}`);
    try {
      await writeFile(path, bytes, { flag: 'wx' });
      return path;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    }
  }
  throw new Error(`there are ${MAX_TRIES} files of that name`);
}
