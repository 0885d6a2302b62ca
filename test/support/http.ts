import { request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** The body as JSON. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface SendOptions {
  readonly method?: string;
  readonly path?: string;
  /** A list sends a header several times. */
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** Sends the body chunked in pieces of this many bytes instead of with its length. */
  readonly chunkBytes?: number;
  /** Closes the connection. */
  readonly signal?: AbortSignal;
}

/**
 * Sends one request on a connection of its own and returns the whole answer. Never sends anything twice, which `fetch`
 * does after a 421. Rejects when the connection ends before the answer is complete.
 */
export function send(address: string, options: SendOptions = {}): Promise<Answer> {
  const { method = 'GET', path = '/', headers = {}, body, chunkBytes, signal } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(address, {
      method,
      path,
      headers: {
        ...headers,
        ...(body !== undefined && chunkBytes === undefined && { 'content-length': byteLength(body) }),
      },
      agent: false,
      ...(signal && { signal }),
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => void collect(incoming).then(resolve, reject));
    if (body !== undefined && chunkBytes !== undefined) {
      const bytes = Buffer.from(body);
      for (let at = 0; at < bytes.length; at += chunkBytes) outgoing.write(bytes.subarray(at, at + chunkBytes));
      outgoing.end();
    } else outgoing.end(body);
  });
}

function byteLength(body: string | Buffer): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

function collect(incoming: IncomingMessage): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', reject);
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      resolve({
        status: incoming.statusCode ?? 0,
        headers: incoming.headers,
        body,
        text: body.toString(),
        get json() {
          return JSON.parse(this.text) as Record<string, unknown>;
        },
      });
    });
  });
}
