import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** What the bytes of the index files that are served were when last looked at. */
export class IndexDigests {
  readonly #digests = new Map<string, string>();

  /** Takes a look at these files. `changed` have other bytes than at the last look; a first look tells nothing. */
  async look(paths: Iterable<string>): Promise<{ readonly changed: string[]; readonly missing: string[] }> {
    const changed: string[] = [];
    const missing: string[] = [];
    for (const path of paths) {
      const digest = await digestOf(path);
      const known = this.#digests.get(path);
      if (digest === undefined) missing.push(path);
      else if (digest !== known) {
        this.#digests.set(path, digest);
        if (known !== undefined) changed.push(path);
      }
    }
    return { changed, missing };
  }

  /** From now on these are the files: others are forgotten, new ones get their first look. */
  async follow(paths: ReadonlySet<string>): Promise<void> {
    for (const path of this.#digests.keys()) if (!paths.has(path)) this.#digests.delete(path);
    await this.look([...paths].filter((path) => !this.#digests.has(path)));
  }
}

async function digestOf(path: string): Promise<string | undefined> {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes === undefined ? undefined : createHash('sha256').update(bytes).digest('hex');
}
