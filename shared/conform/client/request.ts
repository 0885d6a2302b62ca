import { HEADER } from '../../protocol/headers.ts';
import type { Service } from '../service.ts';
import { RawConnection } from './connection.ts';
import type { RawResponse } from './response.ts';

/** A header's value; several are sent as several headers, null leaves out one that is there by default. */
export type HeaderValue = string | readonly string[] | null;
export type Headers = Readonly<Record<string, HeaderValue>>;

export interface RawRequest {
  readonly method: string;
  /** The request target exactly as sent. */
  readonly path: string;
  /** Added to, or instead of, the defaults: `host`, the token, the tenant and, with a body, the JSON type. */
  readonly headers?: Headers;
  readonly body?: string | Buffer;
  /** How the body is framed. Default `length`; a number is the size of each chunk in bytes; `none` announces nothing. */
  readonly framing?: 'length' | 'none' | number;
}

/** The request's bytes, as a well-behaved caller of `service` sends them but for what the request says itself. */
export function encodeRequest(service: Service, request: RawRequest): Buffer {
  const body = request.body === undefined ? undefined : Buffer.from(request.body);
  const framing = request.framing ?? 'length';
  const defaults: Headers = {
    host: `${service.host}:${service.port}`,
    [HEADER.token]: service.token,
    [HEADER.tenantId]: service.tenantId ?? null,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(body !== undefined && framing === 'length' && { 'content-length': String(body.length) }),
    ...(typeof framing === 'number' && { 'transfer-encoding': 'chunked' }),
  };
  const head = [`${request.method} ${request.path} HTTP/1.1`, ...headerLines({ ...defaults, ...request.headers })];
  const payload = body === undefined ? [] : typeof framing === 'number' ? chunked(body, framing) : [body];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), ...payload]);
}

/** Sends one request on a connection of its own and reads its answer. */
export async function exchange(service: Service, request: RawRequest): Promise<RawResponse> {
  const connection = await RawConnection.open(service);
  try {
    connection.send(encodeRequest(service, request));
    return await connection.read({ isHead: request.method === 'HEAD' });
  } finally {
    connection.close();
  }
}

function headerLines(headers: Headers): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (value === null) return [];
    return (typeof value === 'string' ? [value] : value).map((one) => `${name}: ${one}`);
  });
}

function chunked(body: Buffer, size: number): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
  }
  return [...parts, Buffer.from('0\r\n\r\n')];
}
