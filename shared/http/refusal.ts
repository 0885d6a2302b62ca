import { RETRY_AFTER_S } from '../protocol/limits.ts';

/**
 * Every answer that is not a message: why the call was not run, or may have been. This table is the only place that
 * knows status numbers. 503 means: provably did not run, send it again (A8). 500 means: it may have run.
 * On a 503 the text starts with the protocol's own word (A9).
 */
const REFUSALS = {
  'not-found': { status: 404, error: 'no such path' },
  'method-not-allowed': { status: 405, error: 'wrong method' },
  'bad-token': { status: 401, error: 'missing or wrong kindgi-pack-token' },
  'pack-tenant-mismatch': { status: 421, error: 'the call is for another tenant' },
  'body-too-large': { status: 413, error: 'the body is over 10 MiB' },
  'not-json': { status: 415, error: 'the body must be application/json' },
  'bad-request': { status: 400, error: 'not a valid HTTP request' },
  'request-timeout': { status: 408, error: 'the request did not arrive in time' },
  'expectation-failed': { status: 417, error: 'only "100-continue" can be expected' },
  'headers-too-large': { status: 431, error: 'the header block is over 16 KiB' },
  'not-ready': { status: 503, error: 'not ready' },
  overloaded: { status: 503, error: 'overloaded' },
  cooling: { status: 503, error: 'not ready: the pack failed and is started again soon' },
  stopped: { status: 503, error: 'not ready: the pack has been stopped by its operator' },
  memory: { status: 503, error: 'overloaded: no memory for another pack' },
  draining: { status: 503, error: 'draining' },
  'missing-env': { status: 503, error: 'missing env' },
  'queue-full': { status: 503, error: 'overloaded: too many calls wait for this pack' },
  'queue-timeout': { status: 503, error: 'overloaded: the call waited too long for its turn' },
  'bodies-full': { status: 503, error: 'overloaded: no room for the body' },
  unreachable: { status: 503, error: 'not ready: the pack could not be reached' },
  'instance-lost': { status: 500, error: 'the pack gave no usable answer; the call may have run' },
  internal: { status: 500, error: 'internal error' },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/**
 * A call that is answered without a message. `detail` is added to the caller's text and therefore names no other
 * tenant, path, port or pack output. `retryAfterS` counts on a 503 only, in whole seconds; a 500 never has it.
 */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  readonly retryAfterS: number | undefined;

  constructor(code: RefusalCode, options: { detail?: string; retryAfterS?: number; cause?: unknown } = {}) {
    const { status, error } = REFUSALS[code];
    super(options.detail === undefined ? error : `${error}: ${options.detail}`, { cause: options.cause });
    this.name = 'Refusal';
    this.code = code;
    this.status = status;
    this.retryAfterS = status === 503 ? Math.max(RETRY_AFTER_S, Math.ceil(options.retryAfterS ?? 0)) : undefined;
  }
}

/** Of anything thrown, the refusal it means: itself, or `internal`. */
export function asRefusal(cause: unknown): Refusal {
  return cause instanceof Refusal ? cause : new Refusal('internal', { cause });
}
