import { open, rename, rm } from 'node:fs/promises';

/**
 * Writes a file for its owner alone, whole or not at all: beside its place first, then renamed over it. Whoever reads it
 * meanwhile has the old bytes. One writer at a time.
 */
export async function writeAtomically(path: string, content: Buffer | string): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (cause) {
    // Whatever kept the file from being written may keep it from being removed, too.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw cause;
  }
}
