import type { Clock } from '../clock.ts';
import type { Deployment } from './deployment.ts';

/** How often all deployments are looked at together; idle times are that exact. */
const SWEEP_MS = 100;

/** All deployments of a gateway: one sweep for the idle ones, one end for all. */
export class Supervisor {
  readonly deployments: readonly Deployment[];
  readonly #clock: Clock;
  #cancelSweep: (() => void) | undefined;

  constructor(deployments: readonly Deployment[], clock: Clock) {
    this.deployments = deployments;
    this.#clock = clock;
  }

  open(): void {
    this.#cancelSweep = this.#clock.after(SWEEP_MS, () => {
      const now = this.#clock.now();
      for (const deployment of this.deployments) deployment.checkIdle(now);
      this.open();
    });
  }

  /** Tells every process to end, all in one tick. Settles when none is left: one child's grace, for one or for 500. */
  async close(): Promise<void> {
    this.#cancelSweep?.();
    await Promise.all(this.deployments.map((deployment) => deployment.close()));
  }

  /** Cuts a `close` short. */
  kill(): void {
    for (const deployment of this.deployments) deployment.kill();
  }
}
