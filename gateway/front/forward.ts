import type { Dispatcher } from 'undici';
import type { Outcome } from '../lane/lane.ts';
import type { Target } from '../lane/target.ts';
import type { Answer } from './answer.ts';
import type { Interrupt, Stop } from './interrupt.ts';
import type { Outgoing } from './outgoing.ts';

/** An answer that has begun may take this long past the call's deadline to end, however slowly its caller reads. */
const ANSWER_GRACE_MS = 30_000;

/** Informational answers (1xx) that are let pass unseen before the service counts as not answering. */
const MAX_INFORMATIONAL = 32;

/**
 * Sends one request and relays its answer. Never tries again by itself, never throws. Whatever is not the service's
 * own answer is left to the caller of this function: it knows from the outcome whether anything may have run.
 */
export function forward(
  target: Target,
  outgoing: Outgoing,
  answer: Answer,
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
  readonly #answer: Answer;
  readonly #interrupt: Interrupt;
  readonly #remainingMs: number;
  readonly #resolve: (outcome: Outcome) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #isSettled = false;
  #informational = 0;
  #isUnauthorized = false;

  constructor(answer: Answer, interrupt: Interrupt, remainingMs: number, resolve: (outcome: Outcome) => void) {
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
    try {
      const mayHaveBody = this.#answer.begin(status, rawHeadersOf(controller));
      if (mayHaveBody) this.#interrupt.arm(this.#remainingMs + ANSWER_GRACE_MS, 'late');
      else {
        this.#answer.end();
        this.#settle('answered');
      }
    } catch {
      this.#settle('lost');
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled || this.#isUnauthorized) return;
    if (this.#answer.write(chunk)) return;
    controller.pause();
    this.#answer.whenWritable(() => controller.resume());
  }

  onResponseEnd(): void {
    if (this.#isSettled) return;
    if (this.#isUnauthorized) return this.#settle('unauthorized', true);
    this.#answer.end();
    this.#settle('answered', true);
  }

  onResponseError(): void {
    this.#settle(this.#controller === undefined ? 'unreachable' : 'lost');
  }

  #settle(outcome: Outcome, isComplete = false): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    // A connection whose exchange did not come to its end is not used again.
    if (!isComplete) this.#controller?.abort(new Error('the call is over'));
    this.#resolve(outcome);
  }
}

function rawHeadersOf(controller: Dispatcher.DispatchController): Buffer[] {
  const raw = controller.rawHeaders;
  return Array.isArray(raw) ? raw.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)) : [];
}
