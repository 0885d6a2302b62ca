import type { IncomingHttpHeaders } from 'node:http';
import { HEADER } from '../../shared/protocol/headers.ts';
import type { Target } from '../lane/target.ts';

/** What is sent to a service. */
export interface Outgoing {
  readonly method: 'POST' | 'GET';
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

/** Headers of the caller that go on to the service; nothing else does (A15). */
const PASSED_ON = [HEADER.runId, HEADER.requestId, HEADER.protocol, HEADER.traceparent, HEADER.tracestate] as const;

/** A call: its body byte for byte (A32a), its content type as every service takes it, what is left of its deadline. */
export function invokeRequest(target: Target, from: IncomingHttpHeaders, body: Buffer, remainingMs: number): Outgoing {
  const headers = [
    'content-type',
    'application/json',
    HEADER.timeoutMs,
    String(remainingMs),
    ...commonHeaders(target, from),
  ];
  return { method: 'POST', path: '/v1/invoke', headers, body };
}

export function infoRequest(target: Target, from: IncomingHttpHeaders): Outgoing {
  return { method: 'GET', path: '/v1/info', headers: commonHeaders(target, from), body: null };
}

/** The instance's own token and its tenant as configured: the caller's token stays here. */
function commonHeaders({ facts }: Target, from: IncomingHttpHeaders): string[] {
  const headers: string[] = [HEADER.token, facts.token, HEADER.tenantId, facts.tenantId];
  for (const name of PASSED_ON) {
    const value = from[name];
    if (typeof value === 'string') headers.push(name, value);
  }
  return headers;
}
