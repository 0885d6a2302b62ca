import { lstat, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TemplateFile } from './template.ts';

/** What is there already and would have to be overwritten: files, and files where a folder is needed. Absolute, in order. */
export async function findInTheWay(folder: string, files: readonly TemplateFile[]): Promise<string[]> {
  const found = new Set<string>();
  for (const { path, isOptional } of files) {
    const file = join(folder, path);
    if (!isOptional && (await isThere(file))) found.add(file);
    for (let above = dirname(file); above !== dirname(above); above = dirname(above)) {
      if ((await isThere(above)) && !(await isFolder(above))) found.add(above);
    }
  }
  return [...found];
}

/**
 * Writes all that is not there, none over another. Resolves with the paths, absolute and in order.
 * @throws {Error} when it fails; what was written until then is removed.
 */
export async function writeAll(folder: string, files: readonly TemplateFile[]): Promise<string[]> {
  const done: string[] = [];
  try {
    for (const { path, text, isOptional } of files) {
      const file = join(folder, path);
      if (isOptional && (await isThere(file))) continue;
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text, { flag: 'wx' });
      done.push(file);
    }
    return done;
  } catch (error) {
    await Promise.all(done.map((file) => rm(file, { force: true })));
    throw error;
  }
}

/** A link that leads nowhere is there, too. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
