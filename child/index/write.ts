import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

import { writeAtomically } from '../../shared/atomicFile.ts';
import { PackError } from './errors.ts';

/** Writes the index whole or not at all, its folder too if need be (E14). */
export async function writeIndex(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeAtomically(path, text, { suffix: `.tmp-${process.pid}` });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PackError('output-write-failed', `Cannot write ${path}: ${why}`, { filePath: path, cause });
  }
}
