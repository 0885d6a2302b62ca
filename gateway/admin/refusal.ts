/** Why the admin side did not do what it was asked; the only table of its statuses. */
const REFUSALS = {
  'bad-request': 400,
  'bad-token': 401,
  'foreign-host': 403,
  'foreign-origin': 403,
  'not-found': 404,
  'unknown-deployment': 404,
  'method-not-allowed': 405,
  'body-too-large': 413,
  internal: 500,
} as const;

export type AdminRefusalCode = keyof typeof REFUSALS;

/** A request that is answered with `{error, code}`. `details` stand beside them. */
export class AdminRefusal extends Error {
  readonly code: AdminRefusalCode;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: AdminRefusalCode,
    message: string,
    { details = {}, cause }: { details?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.name = 'AdminRefusal';
    this.code = code;
    this.status = REFUSALS[code];
    this.details = details;
  }
}

/** Of anything thrown, the refusal it means; Express throws for a path it cannot decode and for a body over the limit. */
export function asAdminRefusal(cause: unknown): AdminRefusal {
  if (cause instanceof AdminRefusal) return cause;
  const status = typeof cause === 'object' && cause !== null && 'status' in cause ? cause.status : undefined;
  if (status === 413) return new AdminRefusal('body-too-large', 'the body is larger than any order', { cause });
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new AdminRefusal('bad-request', 'the path or the body cannot be read', { cause });
  }
  return new AdminRefusal('internal', 'internal error', { cause });
}
