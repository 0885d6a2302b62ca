import type { Clock } from '../clock.ts';
import type { Target } from '../lane/target.ts';
import type { Run } from './boot.ts';

/** So many instances may wait for their last calls for long; where there are more, the oldest is made to end. */
const MAX_WAITING = 2;

/**
 * More than that is let pass for this long: in a row of swaps most instances are gone in a moment, and a long call of the
 * oldest must not pay for them.
 */
const CROWD_MS = 5_000;

/** But never more than this. */
const MAX_CROWD = 4;

/**
 * Instances that were taken out of their lane and end: each gets its SIGTERM when its last call is back, because a
 * service cuts what is left 8 s after it, and a swap cuts nothing.
 */
export class Leaving {
  readonly #clock: Clock;
  readonly #onForced: (run: Run) => void;
  /** In the order in which they were taken out. */
  readonly #waiting = new Map<Run, () => void>();
  #cancelCrowd: (() => void) | undefined;

  /** `onForced` hears of an instance that is ended before its last call is back. */
  constructor(clock: Clock, onForced: (run: Run) => void) {
    this.#clock = clock;
    this.#onForced = onForced;
  }

  /** It has been replaced, or nobody uses it: its calls may end, however long they take. */
  retire(run: Run, target: Target): void {
    this.#wait(run, target, () => undefined);
    if (this.#waiting.size > MAX_CROWD) this.#forceOldest();
    else if (this.#waiting.size > MAX_WAITING) this.#cancelCrowd ??= this.#clock.after(CROWD_MS, () => this.#thin());
  }

  /** It is sick: its calls may end within `patienceMs`, then `end` is called, whatever they do. */
  giveUp(run: Run, target: Target, patienceMs: number, end: () => void): void {
    this.#wait(run, target, this.#endLater(run, patienceMs, end));
  }

  /** It ends by itself; a signal would only disturb it. `end` is called if it has not after `patienceMs`. */
  await(run: Run, patienceMs: number, end: () => void): void {
    this.#waiting.set(run, this.#endLater(run, patienceMs, end));
  }

  /** Its process has ended. */
  forget(run: Run): void {
    this.#waiting.get(run)?.();
    this.#waiting.delete(run);
    if (this.#waiting.size > MAX_WAITING) return;
    this.#cancelCrowd?.();
    this.#cancelCrowd = undefined;
  }

  #endLater(run: Run, patienceMs: number, end: () => void): () => void {
    return this.#clock.after(patienceMs, () => {
      if (this.#waiting.delete(run)) end();
    });
  }

  #thin(): void {
    this.#cancelCrowd = undefined;
    while (this.#waiting.size > MAX_WAITING) this.#forceOldest();
  }

  #forceOldest(): void {
    const [oldest] = this.#waiting.keys();
    if (oldest === undefined) return;
    this.forget(oldest);
    this.#onForced(oldest);
    oldest.stop();
  }

  #wait(run: Run, target: Target, onDone: () => void): void {
    this.#waiting.set(run, onDone);
    target.close(() => {
      if (!this.#waiting.has(run)) return;
      this.forget(run);
      run.stop();
    });
  }
}
