import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The text of a file, or why there is none; completes "got …". */
export type FileText =
  /** `isPipe`: of something that gives its text once, and not again. */
  { readonly text: string; readonly isPipe: boolean } | { readonly trouble: string };

/** Reads a file of at most `maxBytes`; pipes too, which is how shells hand over secrets. Never throws. */
export async function readText(path: string, maxBytes: number): Promise<FileText> {
  try {
    const file = await open(path, 'r');
    try {
      const buffer = Buffer.alloc(maxBytes + 1);
      let length = 0;
      while (length < buffer.length) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
        if (bytesRead === 0) {
          const isPipe = !(await file.stat()).isFile();
          return { text: buffer.toString('utf8', 0, length), isPipe };
        }
        length += bytesRead;
      }
      return { trouble: `a file of more than ${maxBytes} bytes` };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { trouble: troubleOf(error) };
  }
}

const TROUBLES: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'no such file'],
  ['ENOTDIR', 'no such file'],
  ['EACCES', 'no permission to read it'],
  ['EPERM', 'no permission to read it'],
  ['EISDIR', 'a folder'],
]);

/** What went wrong with a file; completes "got …". */
export function troubleOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? message : (TROUBLES.get(code) ?? code);
}

export async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

export async function isExecutable(path: string): Promise<boolean> {
  if (!(await isFile(path))) return false;
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Whether `name` is a program in one of the folders of `searchPath` (a `PATH`). */
export async function isOnPath(name: string, searchPath: string): Promise<boolean> {
  for (const folder of searchPath.split(delimiter)) {
    if (folder !== '' && (await isExecutable(join(folder, name)))) return true;
  }
  return false;
}
