import type { Clock } from '../clock.ts';
import type { Lane } from '../lane/lane.ts';
import type { Run, Started } from './boot.ts';

/**
 * Whether an instance still lives. A process that dies closes its connections first, its listener later, and is reported
 * last: until it is known whether it lives, no call is sent where it would be lost.
 */
export class Doubt {
  readonly #lane: Lane;
  readonly #clock: Clock;
  readonly #onOver: (suspect: Started, isAlive: boolean) => void;
  #suspect: Run | undefined;

  constructor(lane: Lane, clock: Clock, onOver: (suspect: Started, isAlive: boolean) => void) {
    this.#lane = lane;
    this.#clock = clock;
    this.#onOver = onOver;
  }

  /**
   * Asks it for its health. It gets no call meanwhile, or not after `patienceMs`. Whoever is asked already is not asked
   * again.
   */
  ask(suspect: Started, patienceMs: number): void {
    const shut = (): void => {
      if (this.#lane.current === suspect.target) this.#lane.shut();
    };
    if (patienceMs === 0) shut();
    if (this.#suspect === suspect.run) return;
    this.#suspect = suspect.run;
    const cancel = this.#clock.after(patienceMs, shut);
    void suspect.run.isAlive().then((isAlive) => {
      cancel();
      if (this.#suspect === suspect.run) this.#suspect = undefined;
      this.#onOver(suspect, isAlive);
    });
  }
}
