import type { CallFault } from '../config/faultRule.ts';
import type { Outcome } from '../lane/lane.ts';

/** What is written of a call when it is over: one structured line. No header but these, no body, no token. */
export interface CallRecord {
  readonly route: 'invoke' | 'info';
  /** Undefined until the call has been found to be for a tenant that its token opens. */
  readonly tenant: string | undefined;
  readonly deployment: string | undefined;
  readonly instance: string | undefined;
  /** The status the caller was sent; undefined when it had left. */
  readonly status: number | undefined;
  /** Code of the refusal, where the gateway refused. */
  readonly code: string | undefined;
  /** How the call came back from its instance; undefined when it was never sent to one. */
  readonly outcome: Outcome | undefined;
  /**
   * Whether any byte of it was handed to an instance: `refused` when every instance that got it answered 503 or 401
   * whole. A call that the gateway itself refuses with 503, which has a `code`, never has `yes`.
   */
  readonly handedOver: 'no' | 'refused' | 'yes';
  /** The fault on order that it met. */
  readonly fault: CallFault | undefined;
  /** From the first byte to the answer, in milliseconds. */
  readonly durationMs: number;
  /** Of that, from its whole body to its hand-over: the wait for an instance or a slot. */
  readonly waitedMs: number;
  readonly requestId: string | undefined;
  readonly traceId: string | undefined;
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;

/** The trace id of a W3C `traceparent`, where it is one (A20). */
export function traceIdOf(traceparent: unknown): string | undefined {
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
}
