import type { Clock } from '../clock.ts';

/** Lines a second that are shown of one instance, and how many it may have saved up; each KiB of a line counts as one. */
const LINES_PER_SECOND = 1_000;
const MAX_SAVED = 5_000;
const UNIT_BYTES = 1_024;

/** The count of dropped lines is a line as well. */
const TELL_EVERY_MS = 1_000;

/**
 * How much of what an instance prints is shown. It may print without end; what it prints is always read, so that it
 * never blocks, but showing a line costs some fifty times what reading it does, and its neighbours would feel that.
 */
export class OutputBudget {
  readonly #clock: Clock;
  #saved = MAX_SAVED;
  #at: number;
  #dropped = 0;
  #toldAt = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.now();
  }

  /** Counts in the time that has passed; once for whatever was read together, not for every line of it. */
  refill(): void {
    const now = this.#clock.now();
    this.#saved = Math.min(MAX_SAVED, this.#saved + ((now - this.#at) * LINES_PER_SECOND) / 1000);
    this.#at = now;
  }

  /** Whether no line may be shown before the next `refill`. */
  get isUsedUp(): boolean {
    return this.#saved < 1;
  }

  /** Counts lines as dropped that nobody asked to show. */
  drop(lines: number): void {
    this.#dropped += lines;
  }

  /** Whether one more line, so long as given, may be shown; if not, it is counted as dropped. */
  take(lineBytes: number): boolean {
    if (this.isUsedUp) {
      this.#dropped += 1;
      return false;
    }
    // Below 0 it is a debt: a long line is shown whole, or not at all.
    this.#saved -= Math.max(1, lineBytes / UNIT_BYTES);
    return true;
  }

  /** How many lines were dropped since this was last told; 0 when that was less than a second ago. */
  takeDropped(): number {
    if (this.#dropped === 0) return 0;
    const now = this.#clock.now();
    if (now - this.#toldAt < TELL_EVERY_MS) return 0;
    this.#toldAt = now;
    return this.takeLastDropped();
  }

  /** As `takeDropped`, at the very end: whatever was not told yet. */
  takeLastDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }
}
