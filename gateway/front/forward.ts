import type { Dispatcher } from 'undici';
import type { Outcome } from '../lane/lane.ts';
import type { Target } from '../lane/target.ts';
import type { AnswerSink } from './answer.ts';
import type { Interrupt, Stop } from './interrupt.ts';
import type { Outgoing } from './outgoing.ts';

/** An answer that has begun may take this long past the call's deadline to end, however slowly its caller reads. */
const ANSWER_GRACE_MS = 30_000;

/** A 503 is read this far to see whether it says `draining`; those that services give are some thirty bytes. */
const MAX_HELD_BYTES = 4 * 1024;

/** Informational answers (1xx) that are let pass unseen before the service counts as not answering. */
const MAX_INFORMATIONAL = 32;

/**
 * Sends one request and relays its answer. Never tries again by itself, never throws. Whatever is not the service's
 * own answer is left to the caller of this function: it knows from the outcome whether anything may have run.
 */
export function forward(
  target: Target,
  outgoing: Outgoing,
  answer: AnswerSink,
  interrupt: Interrupt,
  remainingMs: number,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const exchange = new Exchange(answer, interrupt, remainingMs, resolve);
    if (interrupt.stopped !== undefined) return exchange.stop(interrupt.stopped);
    interrupt.listen((stop) => exchange.stop(stop));
    try {
      target.dispatcher.dispatch(
        {
          method: outgoing.method,
          path: outgoing.path,
          headers: outgoing.headers as string[],
          body: outgoing.body,
          idempotent: false,
          reset: !target.facts.keepsConnections,
        },
        exchange,
      );
    } catch {
      exchange.onResponseError();
    }
  });
}

/** One request and its answer, as undici tells of it. It calls back in this order and nothing after the end. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #answer: AnswerSink;
  readonly #interrupt: Interrupt;
  readonly #remainingMs: number;
  readonly #resolve: (outcome: Outcome) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #isSettled = false;
  #informational = 0;
  #isUnauthorized = false;
  /** A 503 that is not passed on before it is known whether another instance may have the call. */
  #held: { readonly status: number; readonly rawHeaders: readonly Buffer[]; body: Buffer } | undefined;

  constructor(answer: AnswerSink, interrupt: Interrupt, remainingMs: number, resolve: (outcome: Outcome) => void) {
    this.#answer = answer;
    this.#interrupt = interrupt;
    this.#remainingMs = remainingMs;
    this.#resolve = resolve;
  }

  stop(stop: Stop): void {
    // Not handed over yet: it provably did not run, whatever the reason to give up.
    if (stop !== 'left' && this.#controller === undefined) this.#settle('unreachable');
    else this.#settle(stop === 'left' ? 'left' : 'late');
  }

  /** Called right before the first byte is written: from here on the call may have run. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isSettled) controller.abort(new Error('the call is over'));
    else this.#controller = controller;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (this.#isSettled) return;
    if (status < 200) {
      this.#informational += 1;
      if (status < 100 || this.#informational > MAX_INFORMATIONAL) this.#settle('lost');
      return;
    }
    if (status === 401) {
      this.#isUnauthorized = true;
      return;
    }
    const rawHeaders = rawHeadersOf(controller);
    if (status === 503) this.#held = { status, rawHeaders, body: Buffer.alloc(0) };
    else this.#begin(status, rawHeaders);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled || this.#isUnauthorized) return;
    if (this.#held !== undefined) {
      this.#held.body = Buffer.concat([this.#held.body, chunk]);
      if (this.#held.body.length > MAX_HELD_BYTES) this.#release();
      return;
    }
    if (this.#answer.write(chunk)) return;
    controller.pause();
    this.#answer.whenWritable(() => controller.resume());
  }

  onResponseEnd(): void {
    if (this.#isSettled) return;
    if (this.#isUnauthorized) return this.#settle('unauthorized', true);
    if (this.#held !== undefined) {
      if (saysDraining(this.#held.body)) return this.#settle('draining', true);
      this.#release();
      if (this.#isSettled) return;
    }
    this.#answer.end();
    this.#settle('answered', true);
  }

  onResponseError(): void {
    this.#settle(this.#controller === undefined ? 'unreachable' : 'lost');
  }

  #begin(status: number, rawHeaders: readonly Buffer[]): void {
    try {
      const mayHaveBody = this.#answer.begin(status, rawHeaders);
      if (mayHaveBody) this.#interrupt.arm(this.#remainingMs + ANSWER_GRACE_MS, 'late');
      else {
        this.#answer.end();
        this.#settle('answered');
      }
    } catch {
      this.#settle('lost');
    }
  }

  /** Passes on what was held back. */
  #release(): void {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    this.#begin(held.status, held.rawHeaders);
    if (!this.#isSettled) this.#answer.write(held.body);
  }

  #settle(outcome: Outcome, isComplete = false): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    // A connection whose exchange did not come to its end is not used again.
    if (!isComplete) this.#controller?.abort(new Error('the call is over'));
    this.#resolve(outcome);
  }
}

/** The service's word for it (A9); its text may go on. */
function saysDraining(body: Buffer): boolean {
  try {
    const { error } = JSON.parse(body.toString()) as { error?: unknown };
    return typeof error === 'string' && error.startsWith('draining');
  } catch {
    return false;
  }
}

function rawHeadersOf(controller: Dispatcher.DispatchController): Buffer[] {
  const raw = controller.rawHeaders;
  return Array.isArray(raw) ? raw.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)) : [];
}
