import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { callHeaders } from './calls.ts';
import type { CallOptions, Endpoint } from './calls.ts';
import { until } from './files.ts';

/** One TCP connection, for where the bytes themselves or the ends of a connection matter. */
export interface RawClient {
  readonly send: (bytes: string | Buffer) => void;
  /** Everything received so far, one character per byte. */
  readonly received: () => string;
  readonly receivedBytes: () => number;
  /** Waits until the received text fits and returns all of it. */
  readonly readUntil: (pattern: RegExp, withinMs?: number) => Promise<string>;
  /** Waits for the other side's end and returns everything received. */
  readonly readToEnd: (withinMs?: number) => Promise<string>;
  /** True once the other side has ended or reset the connection. */
  readonly isEnded: () => boolean;
  /** True once the whole connection is gone. */
  readonly isClosed: () => boolean;
  /** Sends the end of our side and goes on reading. */
  readonly halfClose: () => void;
  readonly reset: () => void;
  readonly close: () => void;
}

export async function openRawClient(port: number): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return overSocket(socket);
}

function overSocket(socket: Socket): RawClient {
  const chunks: Buffer[] = [];
  let receivedBytes = 0;
  let isEnded = false;
  let isClosed = false;
  const received = (): string => Buffer.concat(chunks).toString('latin1');
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    receivedBytes += chunk.length;
  });
  socket.on('end', () => (isEnded = true));
  socket.on('close', () => (isClosed = isEnded = true));
  // How a connection breaks is the other side's doing; what counts is that it has, and `close` tells that.
  socket.on('error', () => undefined);
  return {
    send: (bytes) => void socket.write(bytes),
    received,
    receivedBytes: () => receivedBytes,
    readUntil: (pattern, withinMs) =>
      until(
        `bytes that fit ${String(pattern)}`,
        () => {
          const text = received();
          return pattern.test(text) && text;
        },
        withinMs,
      ),
    readToEnd: async (withinMs) => {
      await until('the end of the connection', () => isEnded, withinMs);
      return received();
    },
    isEnded: () => isEnded,
    isClosed: () => isClosed,
    halfClose: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
    close: () => void socket.destroy(),
  };
}

export interface RawRequest {
  readonly method?: string;
  readonly target?: string;
  /** In this order; a name may come twice. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Buffer;
}

/** The bytes of a request, exactly as given: nothing but `Host` and, for a body without framing, its length is added. */
export function requestBytes({ method = 'POST', target = '/v1/invoke', headers = [], body }: RawRequest): Buffer {
  const has = (name: string): boolean => headers.some(([given]) => given.toLowerCase() === name);
  const all = [...headers];
  if (!has('host')) all.unshift(['Host', 'packs.test']);
  const isFramed = has('content-length') || has('transfer-encoding');
  if (body !== undefined && !isFramed) all.push(['Content-Length', String(Buffer.byteLength(body))]);
  const head = [`${method} ${target} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`), '', ''].join(
    '\r\n',
  );
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body ?? '')]);
}

/** The headers of a call, for `requestBytes`. */
export function rawCallHeaders(endpoint: Endpoint, tenantId: string, options?: CallOptions): [string, string][] {
  return Object.entries(callHeaders(endpoint, tenantId, options)).map(([name, value]) => [name, String(value)]);
}

/** The bytes of a call with its length. */
export function callBytes(endpoint: Endpoint, tenantId: string, body: string | Buffer, options?: CallOptions): Buffer {
  return requestBytes({ headers: rawCallHeaders(endpoint, tenantId, options), body });
}
