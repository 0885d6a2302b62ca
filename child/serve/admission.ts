import { Refusal } from '../../shared/http/refusal.ts';

/** One admitted call. */
export interface Slot {
  /** Its outcome is known: another call may run. Twice is once. */
  leave(): void;
  /** Its answer was sent or its connection is gone. Twice is once; leaves as well. */
  close(): void;
}

/**
 * Who may run a call now (A2 steps 5 and 6), and whether anything is still to be answered.
 * Invariants: 0 ≤ running ≤ open; running ≤ maxConcurrency; once draining, neither grows.
 */
export class Admission {
  #running = 0;
  #open = 0;
  #isDraining = false;
  #onEmpty: (() => void) | undefined;
  readonly #maxConcurrency: number;
  readonly #missingEnv: readonly string[];

  /** `missingEnv`: names whose absence keeps every call out; empty when the env check only warns. */
  constructor({ maxConcurrency, missingEnv }: { maxConcurrency: number; missingEnv: readonly string[] }) {
    this.#maxConcurrency = maxConcurrency;
    this.#missingEnv = missingEnv;
  }

  /** Why no call may run, of whatever kind; undefined when the service is ready. Draining beats missing env (C30). */
  notReady(): Refusal | undefined {
    if (this.#isDraining) return new Refusal('draining');
    return this.#missingEnv.length > 0 ? new Refusal('missing-env') : undefined;
  }

  /** The names to list in a `missing env` answer (A9). */
  get missingEnv(): readonly string[] {
    return this.#missingEnv;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  enter(): Slot | Refusal {
    const refusal = this.notReady() ?? (this.#running >= this.#maxConcurrency ? new Refusal('overloaded') : undefined);
    if (refusal !== undefined) return refusal;
    this.#running += 1;
    this.#open += 1;
    let isRunning = true;
    let isOpen = true;
    const leave = (): void => {
      if (isRunning) this.#running -= 1;
      isRunning = false;
    };
    const close = (): void => {
      leave();
      if (isOpen) this.#open -= 1;
      isOpen = false;
      if (this.#open === 0) this.#onEmpty?.();
    };
    return { leave, close };
  }

  /** Admits nothing more, and resolves when every admitted call was answered. */
  drain(): Promise<void> {
    this.#isDraining = true;
    return new Promise((resolve) => {
      if (this.#open === 0) resolve();
      else this.#onEmpty = resolve;
    });
  }
}
