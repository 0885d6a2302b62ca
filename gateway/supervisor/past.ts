import type { Boot } from './boot.ts';
import type { BootRecord, DeploymentStatus } from './status.ts';

/** Starts of a deployment that are remembered. */
const KEPT_BOOTS = 10;

/** What an operator wants to know of a deployment's past: its last starts, and why it is not as it should be. */
export class Past {
  readonly #boots: Boot[] = [];
  #reason: DeploymentStatus['reason'];

  add(boot: Boot): void {
    this.#boots.unshift(boot);
    if (this.#boots.length > KEPT_BOOTS) this.#boots.pop();
  }

  /** Newest first. */
  get boots(): BootRecord[] {
    return this.#boots.map(({ record }) => record);
  }

  /** Why it does not serve, or does not serve what it should; undefined when all is well. */
  get reason(): DeploymentStatus['reason'] {
    return this.#reason;
  }

  noteReason(code: string, message: string): void {
    this.#reason = { code, message, at: new Date().toISOString() };
  }

  forgetReason(): void {
    this.#reason = undefined;
  }
}
