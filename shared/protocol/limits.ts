/** The protocol's version on the wire: `v` of every message, `protocol` of `/v1/info` (D1, D28). */
export const PROTOCOL_VERSION = 2;

/** Longest request body in bytes, after removing chunked framing. One byte more is 413 (A24). */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Deadline of a call that names none, in milliseconds (A33). */
export const DEFAULT_TIMEOUT_MS = 120_000;

/** Longest deadline that is passed on: above it a 32-bit timer fires at once in the real Node service (A36). */
export const MAX_TIMEOUT_MS = 2_147_483_647;

/** How long a service lets calls end after SIGTERM, in milliseconds (C29). */
export const SERVICE_DRAIN_MS = 8_000;

/** Idle connections to a service are closed by it after 5 s, so a client must let go clearly earlier (A43). */
export const SERVICE_KEEP_ALIVE_MS = 5_000;

/** `Retry-After` in seconds on a 503 that has no better figure (A9). */
export const RETRY_AFTER_S = 1;

/** Deepest nesting of a JSON body that is read; past it the answer is `malformed-message`, not a stack overflow (A14). */
export const MAX_JSON_DEPTH = 512;

/** Longest pause of a call in milliseconds: 24 days (D43). */
export const MAX_PAUSE_MS = 2_073_600_000;
