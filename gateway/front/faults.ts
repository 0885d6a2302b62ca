import { Refusal } from '../../shared/http/refusal.ts';
import type { Clock } from '../clock.ts';
import type { OrderedFault } from '../faults/orders.ts';
import type { Outcome } from '../lane/lane.ts';
import { mayHaveBody } from './answer.ts';
import type { Answer, AnswerSink } from './answer.ts';
import type { Interrupt, Stop } from './interrupt.ts';

/** The 503 of a service or a proxy that forgot the header which says that the call may be sent again. */
class BareRefusal extends Refusal {
  override readonly retryAfterS = undefined;
}

/**
 * A fault that refuses a call does so here, before anything of it is handed over: also of a 421 or a 503 on order it
 * holds that the call did not run.
 * @throws {Refusal}
 */
export function refuseOnOrder(fault: OrderedFault | undefined): void {
  if (fault?.kind === '421') throw new Refusal('pack-tenant-mismatch');
  if (fault?.kind === '503') throw new Refusal('overloaded');
  if (fault?.kind === '503-without-retry-after') throw new BareRefusal('overloaded');
}

/** What playing a fault needs of its call. */
export interface Stage {
  /** The way to the caller. */
  readonly answer: Answer;
  readonly interrupt: Interrupt;
  readonly clock: Clock;
  /** On the clock: the call's deadline and its grace have passed. */
  readonly endsAt: number;
}

/**
 * Sends a call that is to meet a fault on its way back: it runs, its answer is held, and then the fault is played. What
 * goes wrong by itself goes wrong as ever.
 */
export async function sendOnOrder(
  fault: OrderedFault,
  send: (answer: AnswerSink) => Promise<Outcome>,
  { answer, interrupt, clock, endsAt }: Stage,
): Promise<Outcome> {
  const held = new HeldAnswer();
  const outcome = await send(held);
  if (outcome !== 'answered') return outcome;
  switch (fault.kind) {
    case '500':
      return 'lost';
    case 'cut':
      answer.cut();
      return 'answered';
    case 'half-answer':
      return held.passOnHalf(answer);
    case 'late': {
      const stop = await holdBack(fault.ms, interrupt, clock, endsAt);
      if (stop !== undefined) return stop === 'left' ? 'left' : 'late';
      return held.passOn(answer);
    }
    // Those that refuse a call did so before it was sent.
    case '421':
    case '503':
    case '503-without-retry-after':
      return held.passOn(answer);
  }
}

/** Waits, and says what ended the call meanwhile, if anything did. */
function holdBack(ms: number, interrupt: Interrupt, clock: Clock, endsAt: number): Promise<Stop | undefined> {
  return new Promise((resolve) => {
    if (interrupt.stopped !== undefined) return resolve(interrupt.stopped);
    const cancel = clock.after(ms, () => {
      interrupt.disarm();
      resolve(undefined);
    });
    interrupt.listen((stop) => {
      cancel();
      resolve(stop);
    });
    interrupt.arm(endsAt - clock.now(), 'late');
  });
}

/** A service's whole answer, kept back. */
class HeldAnswer implements AnswerSink {
  #status = 0;
  #rawHeaders: readonly Buffer[] = [];
  readonly #chunks: Buffer[] = [];

  begin(status: number, rawHeaders: readonly Buffer[]): boolean {
    this.#status = status;
    this.#rawHeaders = rawHeaders;
    return mayHaveBody(status);
  }

  write(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    return true;
  }

  whenWritable(action: () => void): void {
    action();
  }

  end(): void {}

  passOn(answer: Answer): Outcome {
    if (!this.#passOnHead(answer)) return 'lost';
    for (const chunk of this.#chunks) answer.write(chunk);
    answer.end();
    return 'answered';
  }

  /** The head with the length of the whole, half of the body, and then the end of the connection. */
  passOnHalf(answer: Answer): Outcome {
    if (!this.#passOnHead(answer)) return 'lost';
    const body = Buffer.concat(this.#chunks);
    answer.cutAfter(body.subarray(0, Math.floor(body.length / 2)));
    return 'answered';
  }

  /** False where the service's head cannot be sent on. */
  #passOnHead(answer: Answer): boolean {
    try {
      answer.begin(this.#status, this.#rawHeaders);
      return true;
    } catch {
      return false;
    }
  }
}
