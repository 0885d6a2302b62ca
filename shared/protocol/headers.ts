/** Names of the protocol's headers, lower case as Node gives them. Protocol A15 (requests), A11 (answers). */
export const HEADER = {
  /** The credential of `/v1/invoke` and `/v1/info`. `Authorization` never is (A15). */
  token: 'kindgi-pack-token',
  /** Relative deadline of the call in milliseconds (A33). */
  timeoutMs: 'kindgi-timeout-ms',
  runId: 'kindgi-run-id',
  requestId: 'kindgi-request-id',
  protocol: 'kindgi-protocol',
  /** The tenant the call is for; compared by `TenantId` (B1, B2). */
  tenantId: 'kindgi-tenant-id',
  traceparent: 'traceparent',
  tracestate: 'tracestate',
  /** Whole milliseconds from admission to the answer of an invoke (A11). */
  durationMs: 'kindgi-duration-ms',
  /** The artifact version of the index that answered an invoke (A11). */
  artifactVersion: 'kindgi-artifact-version',
} as const;

/** The type of every JSON answer (A10). */
export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Whether a `Content-Type` is `application/json`, in any letter case, with any parameters (A22: a superset of what the
 * services accept where case is concerned, stricter on junk such as `application/jsonx`).
 */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  if (contentType === undefined) return false;
  const end = contentType.indexOf(';');
  const type = end < 0 ? contentType : contentType.slice(0, end);
  return type.trim().toLowerCase() === 'application/json';
}
