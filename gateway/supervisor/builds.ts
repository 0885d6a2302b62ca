import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically } from '../../shared/atomicFile.ts';
import { readIndexFile } from './indexFile.ts';
import type { IndexFacts, IndexFile } from './indexFile.ts';

/**
 * The builds of a deployment, a folder each: the bytes of the index that is served and, once an instance of it has
 * served, a copy of the code. Neither is ever overwritten: an instance that crashed starts again on what it had.
 */
export class Builds {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A short name for what a build is made of. */
  static idOf(...parts: readonly string[]): string {
    return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 12);
  }

  indexOf(id: string): string {
    return join(this.#folder, id, 'index.json');
  }

  /** Where its copy of the code is, or will be. */
  snapshotOf(id: string): string {
    return join(this.#folder, id, 'pack');
  }

  hasSnapshot(id: string): boolean {
    return existsSync(this.snapshotOf(id));
  }

  /** Keeps the index under this id, unless one is kept already: then that one is what is served. */
  async add(id: string, { bytes }: IndexFile): Promise<IndexFacts> {
    const path = this.indexOf(id);
    const kept = await this.read(id).catch(() => undefined);
    if (kept !== undefined) return kept;
    await mkdir(join(this.#folder, id), { recursive: true, mode: 0o700 });
    await writeAtomically(path, bytes, { mode: 0o600 });
    return this.read(id);
  }

  /** @throws {StartFailure} when there is no such build, or its index is damaged. */
  async read(id: string): Promise<IndexFacts> {
    const { facts } = await readIndexFile(this.indexOf(id));
    return facts;
  }

  /** Removes all others. Never rejects. */
  async removeAllBut(ids: ReadonlySet<string>): Promise<void> {
    await removeAllBut(this.#folder, ids);
  }
}

/**
 * Removes whatever else is in a folder. What cannot be removed now, because a process still writes into it, is left for
 * the next time: it only takes room.
 */
export async function removeAllBut(folder: string, names: ReadonlySet<string>): Promise<void> {
  const found = await readdir(folder).catch(() => []);
  const others = found.filter((name) => !names.has(name));
  await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true, force: true }).catch(() => {})));
}
