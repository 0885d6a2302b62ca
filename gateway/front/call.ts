import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal, asRefusal } from '../../shared/http/refusal.ts';
import { HEADER } from '../../shared/protocol/headers.ts';
import { tenantKey } from '../../shared/protocol/tenantId.ts';
import { MAX_TIMEOUT_MS } from '../../shared/protocol/limits.ts';
import { parseTimeoutMs } from '../../shared/protocol/timeout.ts';
import type { Clock } from '../clock.ts';
import type { FaultOrders, OrderedFault } from '../faults/orders.ts';
import type { Lane, Outcome, Waiter } from '../lane/lane.ts';
import type { Target } from '../lane/target.ts';
import { Answer, answerError } from './answer.ts';
import type { AnswerSink, OwnError } from './answer.ts';
import type { Auth } from './auth.ts';
import { checkContext, refuseForeign } from './context.ts';
import { refuseOnOrder, sendOnOrder } from './faults.ts';
import { forward } from './forward.ts';
import { answerProbe } from './health.ts';
import { CallerLeft, Interrupt, stopError } from './interrupt.ts';
import { infoRequest, invokeRequest } from './outgoing.ts';
import { peek } from './peek.ts';
import type { Peeked } from './peek.ts';
import { traceIdOf } from './record.ts';
import type { CallRecord } from './record.ts';
import { refuse } from './refuse.ts';
import type { Room } from './room.ts';
import { routeOf } from './route.ts';
import type { Directory } from './tenant.ts';
import { Upload } from './upload.ts';

export interface Routing {
  readonly auth: Auth;
  readonly directory: Directory;
}

/** What every call needs of the gateway. */
export interface Front {
  /** Who may call, and which deployments there are: replaced together when the configuration changes. */
  readonly routing: () => Routing;
  readonly room: Room;
  readonly clock: Clock;
  readonly isDraining: () => boolean;
  /** Whether calls of this tenant may take any time right now. Undefined: none may. */
  readonly hasNoDeadline?: (tenantId: string) => boolean;
  readonly record: (record: CallRecord) => void;
  /** Told of what must not happen: a bug of ours. */
  readonly onInternalError: (error: unknown) => void;
  /** Which calls are to fail on order; undefined: none. */
  readonly faults?: FaultOrders | undefined;
}

/** How long past its deadline a call that was handed over is given to answer by itself. */
const DEADLINE_GRACE_MS = 250;

/** The story of one request. Each step may end it; the order is the protocol's (A2), and this is the only place that has it. */
export async function handleCall(
  front: Front,
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
): Promise<void> {
  let call: Call | undefined;
  try {
    checkHost(request);
    const route = routeOf(request.method, request.url);
    if (route === 'healthz') return answerProbe(response, 'ok');
    if (route === 'readyz') {
      if (front.isDraining()) throw new Refusal('draining');
      return answerProbe(response, 'ready');
    }
    call = new Call(front, route, request, response);
    const { auth, directory } = front.routing();
    const lane = directory.find(request.headers, auth.check(request.headers));
    call.belongsTo(lane);
    if (route === 'info') return await call.inform(lane);
    Upload.checkHeaders(request);
    // Where calls are to fail, each is counted first: which one it is must not depend on what the lane is at just now.
    if (front.faults === undefined) lane.wake();
    await call.invoke(lane, expectsContinue);
  } catch (cause) {
    if (cause instanceof CallerLeft) return;
    const refusal = asRefusal(cause);
    if (refusal.code === 'internal') front.onInternalError(refusal.cause ?? refusal);
    call?.refusedWith(refusal);
    refuse(request, response, refusal);
  } finally {
    call?.finish();
  }
}

/** One call on its way: what it is, what became of it, and what it holds until it is over. */
class Call {
  readonly #front: Front;
  readonly #route: 'invoke' | 'info';
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #interrupt: Interrupt;
  readonly #startedAt: number;
  #timeoutMs: number;
  #lane: Lane | undefined;
  #instance: string | undefined;
  #outcome: Outcome | undefined;
  #code: string | undefined;
  #handedOver: CallRecord['handedOver'] = 'no';
  #fault: OrderedFault | undefined;
  /** When its body was complete: the clock of its deadline starts then. */
  #bodyAt: number;
  #waitedMs = 0;

  constructor(front: Front, route: 'invoke' | 'info', request: IncomingMessage, response: ServerResponse) {
    this.#front = front;
    this.#route = route;
    this.#request = request;
    this.#response = response;
    this.#startedAt = front.clock.now();
    this.#bodyAt = this.#startedAt;
    this.#timeoutMs = parseTimeoutMs(textOf(request.headers[HEADER.timeoutMs]));
    this.#interrupt = new Interrupt(front.clock);
    // A half-close counts as leaving, too: Node then closes the other half (A40).
    response.once('close', () => this.#interrupt.stop('left'));
  }

  belongsTo(lane: Lane): void {
    this.#lane = lane;
    if (this.#front.hasNoDeadline?.(lane.settings.tenantId) === true) this.#timeoutMs = MAX_TIMEOUT_MS;
  }

  refusedWith(refusal: Refusal): void {
    this.#code = refusal.code;
  }

  /** A tool call or a check, from its body to its answer. */
  async invoke(lane: Lane, expectsContinue: boolean): Promise<void> {
    const key = tenantKey(lane.settings.tenantId);
    const upload = new Upload(this.#front.room, key);
    try {
      const body = await upload.receive(
        this.#request,
        this.#response,
        this.#interrupt,
        this.#timeoutMs,
        expectsContinue,
      );
      // Judged before the wait where it can be: a foreign call need not wait for a start to hear that it is one.
      const { faults } = this.#front;
      // Always where calls are to fail: a foreign one is not counted, whether an instance is up yet or not.
      const early = faults === undefined && checksContext(lane.current) ? undefined : await checkContext(body, key);
      refuseForeign(early);
      this.#bodyAt = this.#front.clock.now();
      if (faults !== undefined) {
        this.#meet(faults, lane, early?.peeked);
        lane.wake();
      }
      let context = early;
      // Again only where the instance itself said that it is draining: the call did not run, and goes to the next one.
      for (;;) {
        const target = await this.#turn(lane, (waiter) => lane.enter(waiter));
        let outcome: Outcome = 'left';
        try {
          if (!checksContext(target)) context ??= await checkContext(body, key);
          refuseForeign(context);
          outcome = context?.verdict === 'no-json' ? this.#refuseJson(target) : await this.#send(target, body);
        } finally {
          lane.leave(target, outcome);
        }
        if (outcome !== 'draining') return await this.#conclude(target, outcome, context?.peeked, body);
      }
    } finally {
      upload.release();
    }
  }

  /** `/v1/info`: starts the deployment like a call does, takes no slot, runs no pack code (A3, G4). */
  async inform(lane: Lane): Promise<void> {
    const target = await this.#turn(lane, (waiter) => lane.visit(waiter));
    const outcome = await this.#send(target, null);
    if (outcome === 'answered' || outcome === 'left') return;
    if (this.#response.headersSent) this.#response.destroy();
    else throw new Refusal('unreachable');
  }

  finish(): void {
    this.#interrupt.disarm();
    const { headers } = this.#request;
    this.#front.record({
      route: this.#route,
      tenant: this.#lane?.settings.tenantId,
      deployment: this.#lane?.settings.deployment,
      instance: this.#instance,
      status: this.#response.headersSent ? this.#response.statusCode : undefined,
      code: this.#code,
      outcome: this.#outcome,
      handedOver: this.#handedOver,
      durationMs: this.#front.clock.now() - this.#startedAt,
      waitedMs: this.#waitedMs,
      requestId: textOf(headers[HEADER.requestId]),
      traceId: traceIdOf(headers[HEADER.traceparent]),
      fault: this.#fault?.kind,
    });
  }

  /** A target at once or after a wait in line; the wait is bounded by the queue's limit and by the call's own deadline. */
  async #turn(lane: Lane, enter: (waiter: Waiter) => Target | undefined): Promise<Target> {
    this.#interrupt.check('queue-timeout');
    const { clock } = this.#front;
    const leftMs = this.#timeoutMs - (clock.now() - this.#bodyAt);
    const target = await new Promise<Target>((resolve, reject) => {
      const waiter: Waiter = { admit: resolve, refuse: reject };
      const admitted = enter(waiter);
      if (admitted !== undefined) return resolve(admitted);
      this.#interrupt.listen((stop) => {
        lane.withdraw(waiter);
        reject(stopError(stop, 'queue-timeout'));
      });
      this.#interrupt.arm(Math.min(lane.settings.queue.waitMs, leftMs), 'waited');
    });
    this.#interrupt.disarm();
    this.#waitedMs = clock.now() - this.#bodyAt;
    this.#instance = target.facts.instance;
    return target;
  }

  async #send(target: Target, body: Buffer | null): Promise<Outcome> {
    const remainingMs = Math.max(1, Math.ceil(this.#timeoutMs - this.#waitedMs));
    this.#interrupt.arm(remainingMs + DEADLINE_GRACE_MS, 'late');
    const { headers } = this.#request;
    const outgoing = body === null ? infoRequest(target, headers) : invokeRequest(target, headers, body, remainingMs);
    const answer = new Answer(this.#response);
    const outcome =
      this.#fault === undefined
        ? await forward(target, outgoing, answer, this.#interrupt, remainingMs)
        : await this.#sendOnOrder(this.#fault, answer, (held) =>
            forward(target, outgoing, held, this.#interrupt, remainingMs),
          );
    this.#outcome = outcome;
    if (outcome === 'draining' || outcome === 'unauthorized') this.#handedOver = 'refused';
    else if (outcome !== 'unreachable') this.#handedOver = 'yes';
    return outcome;
  }

  /** From here on the call has met its fault, if it is to meet one; one that refuses it does so at once. */
  #meet(faults: FaultOrders, lane: Lane, seen: Peeked | undefined): void {
    this.#fault = faults.ofCall(lane.settings.tenantId, seen?.toolId ?? seen?.checkId);
    refuseOnOrder(this.#fault);
  }

  #sendOnOrder(fault: OrderedFault, answer: Answer, send: (held: AnswerSink) => Promise<Outcome>): Promise<Outcome> {
    const { clock } = this.#front;
    const endsAt = this.#bodyAt + this.#timeoutMs + DEADLINE_GRACE_MS;
    return sendOnOrder(fault, send, { answer, interrupt: this.#interrupt, clock, endsAt });
  }

  /** What the caller gets where the service did not answer itself. */
  async #conclude(target: Target, outcome: Outcome, seen: Peeked | undefined, body: Buffer): Promise<void> {
    if (outcome === 'answered' || outcome === 'left') return;
    if (this.#response.headersSent) {
      this.#response.destroy();
      return;
    }
    if (outcome === 'unreachable' || outcome === 'unauthorized') throw new Refusal('unreachable');
    if (outcome === 'lost') throw new Refusal('instance-lost');
    const { toolId, checkId } = seen ?? (await peek(body));
    this.#answerError(target, {
      code: 'deadline-exceeded',
      message: `The call did not finish within ${this.#timeoutMs} ms`,
      ...(toolId !== undefined && { toolId }),
      ...(checkId !== undefined && { checkId }),
    });
  }

  /** A service that does not check contexts is not given what it might read as a foreign call after all. */
  #refuseJson(target: Target): Outcome {
    this.#answerError(target, { code: 'malformed-message', message: 'The body is not JSON' });
    return 'answered';
  }

  #answerError(target: Target, error: OwnError): void {
    this.#code = error.code;
    const durationMs = this.#front.clock.now() - this.#startedAt;
    answerError(this.#response, error, { durationMs, artifactVersion: target.facts.artifactVersion });
  }
}

/** Whether an instance is known to refuse a foreign context itself; unknown while there is none. */
function checksContext(target: Target | undefined): boolean {
  return target?.facts.checksContext === true;
}

/** An HTTP/1.1 request without a Host is none (A31). */
function checkHost(request: IncomingMessage): void {
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    throw new Refusal('bad-request', { detail: 'Host is missing' });
  }
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}
