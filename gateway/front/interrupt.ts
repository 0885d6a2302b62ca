import { Refusal } from '../../shared/http/refusal.ts';
import type { RefusalCode } from '../../shared/http/refusal.ts';
import type { Clock } from '../clock.ts';

/** What may end a call before its answer. */
export type Stop =
  /** Its caller closed the connection, or half of it (A40). */
  | 'left'
  /** It waited in line as long as a call may. */
  | 'waited'
  /** Its deadline passed, while it waited; or the deadline and the grace, once it had been handed over. */
  | 'late';

/** Thrown where a call ends because nobody waits for its answer any more. */
export class CallerLeft extends Error {
  constructor() {
    super('the caller closed the connection');
    this.name = 'CallerLeft';
  }
}

/**
 * The one thing that a call's current step listens to: an AbortController costs more than token, tenant and metrics
 * together. The first stop wins and is kept; at most one timer runs.
 */
export class Interrupt {
  readonly #clock: Clock;
  #stop: Stop | undefined;
  #listener: ((stop: Stop) => void) | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Set from the first stop on. */
  get stopped(): Stop | undefined {
    return this.#stop;
  }

  /**
   * Goes on only if the call has not been stopped.
   * @throws {CallerLeft}
   * @throws {Refusal} with `code`, when its time was over before anything was handed over.
   */
  check(code: RefusalCode): void {
    if (this.#stop !== undefined) throw stopError(this.#stop, code);
  }

  /** The step that is now to hear of a stop; it must not be stopped already. */
  listen(listener: (stop: Stop) => void): void {
    this.#listener = listener;
  }

  /** Replaces the timer. */
  arm(delayMs: number, stop: Stop): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.after(Math.max(0, delayMs), () => this.stop(stop));
  }

  /** The step is over: neither its timer nor its listener is for the next one. */
  disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#listener = undefined;
  }

  stop(stop: Stop): void {
    if (this.#stop !== undefined) return;
    this.#stop = stop;
    const listener = this.#listener;
    this.disarm();
    listener?.(stop);
  }
}

/** What a stop before the hand-over means for the call. */
export function stopError(stop: Stop, code: RefusalCode): CallerLeft | Refusal {
  return stop === 'left' ? new CallerLeft() : new Refusal(code);
}
