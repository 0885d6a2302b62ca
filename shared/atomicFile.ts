import { open, rename, rm } from 'node:fs/promises';

export interface AtomicOptions {
  /** Permissions of the file, less the process's umask. Default: 0o666. */
  readonly mode?: number;
  /** Ends the name of the file that is written first; several writers at once need one each. Default: `.tmp`. */
  readonly suffix?: string;
}

/**
 * Writes a file whole or not at all: beside its place first, then renamed over it. Whoever reads it meanwhile has the old
 * bytes. Its folder must be there.
 */
export async function writeAtomically(
  path: string,
  content: Buffer | string,
  { mode = 0o666, suffix = '.tmp' }: AtomicOptions = {},
): Promise<void> {
  const temporary = `${path}${suffix}`;
  try {
    const file = await open(temporary, 'w', mode);
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
