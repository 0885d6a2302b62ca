import type { Clock } from '../clock.ts';
import type { Done } from '../supervisor/status.ts';

/** A swap that takes longer is not waited for when the pack is saved again: it may be what the save is to mend. */
const PATIENCE_MS = 2_000;

/** How one swap ended. */
export interface Swapped {
  readonly done: Done;
  /** From the first change that it serves to its end, in milliseconds. */
  readonly durationMs: number;
  /** Files that were saved, absolute paths. */
  readonly files: readonly string[];
}

export interface SwapsDeps {
  readonly clock: Clock;
  /** Orders a swap; an earlier one that is under way is given up for it. Settles when the new code serves, or does not. */
  readonly swap: () => Promise<Done>;
  readonly onSwapped: (swapped: Swapped) => void;
}

/**
 * The saves of one pack and the swaps that follow from them: one at a time, however many saves there are.
 *
 * Progress: after the last save there is one swap that began after it.
 */
export class Swaps {
  readonly #deps: SwapsDeps;
  readonly #files = new Set<string>();
  #since = 0;
  #startedAt: number | undefined;
  #round = 0;
  #cancelPatience: (() => void) | undefined;
  #isClosed = false;

  constructor(deps: SwapsDeps) {
    this.#deps = deps;
  }

  /** No swap is ordered any more. */
  close(): void {
    this.#isClosed = true;
    this.#cancelPatience?.();
  }

  /** Something was saved; `since`: when, on the clock. */
  saved(files: ReadonlySet<string>, since: number): void {
    if (this.#files.size === 0) this.#since = since;
    for (const file of files) this.#files.add(file);
    if (this.#startedAt === undefined) void this.#swap();
    else this.#waitFor(this.#startedAt);
  }

  /** The swap under way ends, or its time does. */
  #waitFor(startedAt: number): void {
    const { clock } = this.#deps;
    const round = this.#round;
    this.#cancelPatience?.();
    this.#cancelPatience = clock.after(Math.max(0, startedAt + PATIENCE_MS - clock.now()), () => {
      if (round === this.#round && this.#files.size > 0) void this.#swap();
    });
  }

  async #swap(): Promise<void> {
    if (this.#isClosed) return;
    const { clock, swap, onSwapped } = this.#deps;
    this.#round += 1;
    const round = this.#round;
    const files = [...this.#files];
    const since = this.#since;
    this.#files.clear();
    this.#startedAt = clock.now();
    const done = await swap();
    // Given up for a newer one, which tells how it ended.
    if (round !== this.#round || this.#isClosed) return;
    this.#startedAt = undefined;
    onSwapped({ done, durationMs: clock.now() - since, files });
    if (this.#files.size > 0) void this.#swap();
  }
}
