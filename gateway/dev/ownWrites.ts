import type { Clock } from '../clock.ts';

/** So soon after a swap nobody has saved again; what a pack writes while it starts is seen by then. */
const HEELS_MS = 200;

/** A file that has changed that often in a row on the heels of a swap is written by what is started, not by an author. */
const MOST = 15;

/**
 * Finds out which files a pack writes itself while it is indexed or started: each would have it swapped again, without
 * end. They count as saved no more.
 */
export class OwnWrites {
  readonly #clock: Clock;
  readonly #onFound: (file: string) => void;
  readonly #rows = new Map<string, number>();
  readonly #own = new Set<string>();
  #isSwapping = false;
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, onFound: (file: string) => void) {
    this.#clock = clock;
    this.#onFound = onFound;
  }

  began(): void {
    this.#isSwapping = true;
  }

  ended(): void {
    this.#isSwapping = false;
    this.#endedAt = this.#clock.now();
  }

  /** Of these files, which have just been written, those that an author has saved. */
  without(files: ReadonlySet<string>): ReadonlySet<string> {
    const isOnHeels = this.#isSwapping || this.#clock.now() - this.#endedAt < HEELS_MS;
    if (!isOnHeels) this.#rows.clear();
    for (const file of files) {
      if (!isOnHeels || this.#own.has(file)) continue;
      const row = (this.#rows.get(file) ?? 0) + 1;
      this.#rows.set(file, row);
      if (row < MOST) continue;
      this.#own.add(file);
      this.#onFound(file);
    }
    return new Set([...files].filter((file) => !this.#own.has(file)));
  }
}
