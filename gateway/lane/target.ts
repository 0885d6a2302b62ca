import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { createConnector } from './connector.ts';

/** What a ready instance is known by, once it has been proven. Never changes afterwards. */
export interface TargetFacts {
  /** Names the instance in logs. */
  readonly instance: string;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** The instance's own token; no caller ever sees it. */
  readonly token: string;
  /** The tenant as configured: what the instance is pinned to. */
  readonly tenantId: string;
  readonly artifactVersion: string;
  /** Whether the proof showed that the instance itself refuses a call whose `ctx` names another tenant (B5, B11). */
  readonly checksContext: boolean;
  /** Kept connections, or a new one for each call where a kept one stalls (the real Python service). */
  readonly keepsConnections: boolean;
  /** Calls it is given at once. */
  readonly concurrency: number;
}

/** Services close an idle connection at 5 s (A43); a reset on one that is being reused looks like a death in mid-call. */
const IDLE_CONNECTION_MS = 4_000;

/** How long a connection to loopback may take to be accepted before the instance counts as unreachable. */
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * A ready instance as the data plane sees it: frozen facts and the number of calls that are out to it.
 *
 * Safety: a call is counted from before its first byte is sent until nothing of it is left on the wire.
 * Progress: once closed and empty, `whenEmpty` fires exactly once.
 */
export class Target {
  readonly facts: TargetFacts;
  readonly dispatcher: Dispatcher;
  #inFlight = 0;
  #calls = 0;
  #whenEmpty: (() => void) | undefined;

  constructor(facts: TargetFacts) {
    this.facts = Object.freeze(facts);
    this.dispatcher = new Pool(facts.origin, {
      pipelining: 1,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      keepAliveMaxTimeout: IDLE_CONNECTION_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: createConnector(CONNECT_TIMEOUT_MS),
    });
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Calls that it was ever given. */
  get calls(): number {
    return this.#calls;
  }

  get hasRoom(): boolean {
    return this.#inFlight < this.facts.concurrency;
  }

  take(): void {
    this.#inFlight += 1;
    this.#calls += 1;
  }

  giveBack(): void {
    this.#inFlight -= 1;
    this.#checkEmpty();
  }

  /** No call is sent here any more. `whenEmpty` is called as soon as the last one is back: maybe at once. */
  close(whenEmpty: () => void): void {
    this.#whenEmpty = whenEmpty;
    this.#checkEmpty();
  }

  /** Lets go of every connection; calls that are still out are answered as lost. */
  async destroy(): Promise<void> {
    await this.dispatcher.destroy();
  }

  #checkEmpty(): void {
    if (this.#inFlight > 0 || this.#whenEmpty === undefined) return;
    const whenEmpty = this.#whenEmpty;
    this.#whenEmpty = undefined;
    whenEmpty();
  }
}
