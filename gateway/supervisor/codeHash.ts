import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackTree } from './packTree.ts';

/** Files read at the same time. */
const READS = 8;

/**
 * Tells whether a pack's code is the same as before, by its content: a checkout or a copy that only touches files is no
 * change. A file is read again only when its stamp has changed.
 */
export class CodeHash {
  #known: ReadonlyMap<string, Known> = new Map();

  /** Hex SHA-256. Of a tree that cannot be copied, and so not be gone back to, by the stamps alone: that may be a gigabyte. */
  async of(tree: PackTree): Promise<string> {
    const known = new Map<string, Known>();
    const files = tree.entries.filter((entry) => entry.kind === 'file').values();
    const readers = Array.from({ length: READS }, async () => {
      for (const { path, stamp } of files) {
        const before = this.#known.get(path);
        let content = before?.stamp === stamp ? before.content : undefined;
        if (tree.trouble === undefined) content ??= await contentHash(join(tree.root, path));
        known.set(path, { stamp, content: content ?? stamp });
      }
    });
    await Promise.all(readers);
    this.#known = known;
    const hash = createHash('sha256').update(tree.root);
    for (const entry of tree.entries) {
      if (entry.kind === 'file')
        hash.update(`\0${entry.path}\0${entry.isExecutable}\0${known.get(entry.path)?.content}`);
      if (entry.kind === 'link') hash.update(`\0${entry.path}\0${entry.target}`);
    }
    return hash.digest('hex');
  }
}

interface Known {
  readonly stamp: string;
  readonly content: string;
}

/** Undefined where it cannot be read. */
function contentHash(path: string): Promise<string | undefined> {
  return readFile(path).then(
    (bytes) => createHash('sha256').update(bytes).digest('hex'),
    () => undefined,
  );
}
