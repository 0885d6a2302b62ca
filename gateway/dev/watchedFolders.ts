import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';

/** Folders as they were when they began to be watched. */
export class WatchedFolders {
  readonly #identities = new Map<string, string>();
  /** One of the roots was not there when last looked. */
  #wasMissing = false;

  add(path: string, stats: Stats): void {
    this.#identities.set(path, identityOf(stats));
  }

  /**
   * Whether what is watched is what is there. `others`: a folder is another one now, or one of the `roots` is there
   * again. `missing`: a root is not there, and nobody will tell when it comes. Never rejects.
   */
  async look(roots: readonly string[]): Promise<'same' | 'others' | 'missing'> {
    let found: 'same' | 'others' = 'same';
    let isMissing = false;
    for (const [path, identity] of this.#identities) {
      const stats = await stat(path).catch(() => undefined);
      if (stats === undefined) {
        if (roots.includes(path)) isMissing = true;
        else this.#identities.delete(path);
      } else if (identityOf(stats) !== identity) found = 'others';
    }
    if (isMissing) this.#wasMissing = true;
    else if (this.#wasMissing) found = 'others';
    return isMissing ? 'missing' : found;
  }
}

/** A number alone may be given again at once, to the folder that takes the place of the one that had it. */
function identityOf({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev}:${ino}:${birthtimeMs}`;
}
