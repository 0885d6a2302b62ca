import { randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { send } from './http.ts';
import type { Answer, SendOptions } from './http.ts';

/** Where to send a call and with which token. */
export interface Endpoint {
  readonly address: string;
  readonly token: string;
}

export interface CallOptions {
  readonly toolId?: string;
  readonly input?: unknown;
  readonly requestId?: string;
  readonly timeoutMs?: number;
  readonly token?: string;
  /** The tenant named in the context, when it is not the header's. */
  readonly contextTenantId?: string;
  /** More headers, or others; `undefined` leaves one out. */
  readonly headers?: OutgoingHttpHeaders;
  readonly signal?: AbortSignal;
}

/** The tool every stub pack has; what it does is named in its input. */
export const STUB_TOOL = 'stub.act';
/** The guardrail check every stub pack has. */
export const STUB_CHECK = 'stub.check';

/** The text of an `invoke` message. */
export function invokeMessage(tenantId: string, options: CallOptions = {}): string {
  const { toolId = STUB_TOOL, input = {}, requestId = randomUUID(), contextTenantId = tenantId } = options;
  const ctx = { tenantId: contextTenantId, runId: 'run-1', requestId };
  return JSON.stringify({ v: 2, kind: 'invoke', tool: { id: toolId }, input, ctx });
}

/** An `invoke` message of exactly so many bytes, filled up in its input. */
export function invokeMessageOf(bodyBytes: number, tenantId: string, options: CallOptions = {}): Buffer {
  const requestId = options.requestId ?? randomUUID();
  const filled = (length: number): string => {
    const input = { ...(options.input as object | undefined), fill: 'x'.repeat(length) };
    return invokeMessage(tenantId, { ...options, requestId, input });
  };
  return Buffer.from(filled(bodyBytes - Buffer.byteLength(filled(0))));
}

/** The headers of a call as a runtime sends them (G5). */
export function callHeaders(endpoint: Endpoint, tenantId: string, options: CallOptions = {}): OutgoingHttpHeaders {
  return withoutUndefined({
    'content-type': 'application/json',
    'kindgi-pack-token': options.token ?? endpoint.token,
    'kindgi-tenant-id': tenantId,
    ...(options.requestId !== undefined && { 'kindgi-request-id': options.requestId }),
    ...(options.timeoutMs !== undefined && { 'kindgi-timeout-ms': String(options.timeoutMs) }),
    ...options.headers,
  });
}

/** Calls a tool. The request id is in the header, too, as a runtime sends it. */
export function invoke(endpoint: Endpoint, tenantId: string, options: CallOptions = {}): Promise<Answer> {
  const named = { requestId: randomUUID(), ...options };
  return post(endpoint, tenantId, invokeMessage(tenantId, named), named);
}

/** Sends any body to `/v1/invoke`. */
export function post(
  endpoint: Endpoint,
  tenantId: string,
  body: string | Buffer,
  options: CallOptions & Pick<SendOptions, 'chunkBytes'> = {},
): Promise<Answer> {
  const { signal, chunkBytes } = options;
  return send(endpoint.address, {
    method: 'POST',
    path: '/v1/invoke',
    headers: callHeaders(endpoint, tenantId, options),
    body,
    ...(signal && { signal }),
    ...(chunkBytes !== undefined && { chunkBytes }),
  });
}

/** Asks for `/v1/info`. */
export function info(endpoint: Endpoint, tenantId: string, options: CallOptions = {}): Promise<Answer> {
  const { 'content-type': _, ...headers } = callHeaders(endpoint, tenantId, options);
  return send(endpoint.address, { path: '/v1/info', headers });
}

function withoutUndefined(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
}
