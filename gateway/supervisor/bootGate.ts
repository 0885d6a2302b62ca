import PQueue from 'p-queue';
import type { Clock } from '../clock.ts';

/** Who is let in first. */
export const URGENCY = { eager: 0, replace: 1, call: 2 } as const;
export type Urgency = keyof typeof URGENCY;

/**
 * A start takes a place for at most this long. What makes many starts at once costly is over by then; one that only waits
 * for something must not keep its neighbours from starting.
 */
const HOLD_MS = 2_000;

/** More starts of one tenant than this under way or waiting, and the others are behind all other tenants alike. */
const MAX_BEHIND = 999;

export interface Entrant {
  /** Unique among those who wait. */
  readonly id: string;
  readonly tenantId: string;
  readonly urgency: Urgency;
  readonly signal: AbortSignal;
}

/**
 * How many instances may be starting at once. Those that calls wait for come first; among these the tenants take turns:
 * the more starts of a tenant there are already, the later is its next.
 */
export class BootGate {
  readonly #clock: Clock;
  readonly #queue: PQueue;
  readonly #ofTenant = new Map<string, number>();

  constructor(places: number, clock: Clock) {
    this.#clock = clock;
    this.#queue = new PQueue({ concurrency: places });
  }

  set places(places: number) {
    this.#queue.concurrency = places;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Settles when it is let in, with what gives its place back. Rejects when the signal aborts before. */
  enter({ id, tenantId, urgency, signal }: Entrant): Promise<() => void> {
    const behind = this.#ofTenant.get(tenantId) ?? 0;
    this.#ofTenant.set(tenantId, behind + 1);
    const priority = URGENCY[urgency] * (MAX_BEHIND + 1) - Math.min(behind, MAX_BEHIND);
    const stay = (admit: (leave: () => void) => void): Promise<void> =>
      new Promise((release) => {
        const cancelHold = this.#clock.after(HOLD_MS, release);
        admit(() => {
          cancelHold();
          release();
        });
      });
    return new Promise((resolve, reject) => {
      void this.#queue
        .add(() => stay(resolve), { id, priority, signal })
        .catch(reject)
        .finally(() => this.#forget(tenantId));
    });
  }

  /** A call waits now for one that was let wait before. */
  hurry(id: string): void {
    try {
      this.#queue.setPriority(id, URGENCY.call * (MAX_BEHIND + 1));
    } catch {
      // It is in already.
    }
  }

  #forget(tenantId: string): void {
    const left = (this.#ofTenant.get(tenantId) ?? 1) - 1;
    if (left > 0) this.#ofTenant.set(tenantId, left);
    else this.#ofTenant.delete(tenantId);
  }
}
