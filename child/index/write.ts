import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

import { PackError } from './errors.ts';

/** Writes a file whole or not at all: beside its place first, then renamed over it (E14). */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const temporary = `${path}.tmp-${process.pid}-${Date.now()}`;
  try {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(temporary, 'wx');
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (cause) {
    // Whatever kept the file from being written may keep it from being removed, too.
    await rm(temporary, { force: true }).catch(() => undefined);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PackError('output-write-failed', `Cannot write ${path}: ${why}`, { filePath: path, cause });
  }
}
