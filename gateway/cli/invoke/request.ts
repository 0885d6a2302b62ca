import { request as plainRequest } from 'node:http';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { CallPlace } from './place.ts';

/** What became of a request. */
export type Exchange =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer }
  /** No connection came about: nothing was sent. */
  | { readonly kind: 'unreachable'; readonly code: string | undefined; readonly why: string }
  /** A connection there was, a whole answer not: it may have run. */
  | { readonly kind: 'lost'; readonly why: string }
  /** Closed by us, on a signal. */
  | { readonly kind: 'interrupted' };

export interface CallRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** After that many milliseconds nothing is expected any more. */
  readonly withinMs: number;
  /** Fires when the user wants to have it ended: the connection is closed, which cancels the call (A39). */
  readonly signal?: AbortSignal;
}

/** An answer has no limit (A32), a program that shows it has. */
const MAX_ANSWER_BYTES = 256 * 2 ** 20;

/** Sends one request on a connection of its own, once: whatever happens, nothing is sent again. Never rejects. */
export function exchange(
  place: CallPlace,
  { method, path, headers, body, withinMs, signal }: CallRequest,
): Promise<Exchange> {
  return new Promise((resolve) => {
    let isConnected = false;
    let isAnswered = false;
    const timer = setTimeout(() => {
      if (isConnected) end({ kind: 'lost', why: 'no answer in time' });
      else end({ kind: 'unreachable', code: undefined, why: 'no connection in time' });
    }, withinMs);
    const interrupt = (): void => end({ kind: 'interrupted' });
    const outgoing: ClientRequest = (place.isTls ? tlsRequest : plainRequest)({
      ...place.connect,
      method,
      path,
      agent: false,
      ...(place.isTls && { servername: serverName(place.host) }),
      headers: {
        host: place.host,
        // A server that is told to close does so with an upload still coming, and that takes its refusal along.
        connection: 'keep-alive',
        ...headers,
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      },
    });
    function end(outcome: Exchange): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
      resolve(outcome);
      outgoing.destroy();
    }
    outgoing.on('socket', (socket) => {
      socket.once(place.isTls ? 'secureConnect' : 'connect', () => (isConnected = true));
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // Once an answer has begun, how that goes on is what counts: it may be a refusal given before all was sent.
      if (isAnswered) return;
      const why = reasonOf(error);
      end(isConnected ? { kind: 'lost', why } : { kind: 'unreachable', code: error.code, why });
    });
    outgoing.on('response', (incoming) => {
      isAnswered = true;
      collect(incoming).then(
        (whole) => end({ kind: 'answer', status: incoming.statusCode ?? 0, headers: incoming.headers, body: whole }),
        (error: NodeJS.ErrnoException) => end({ kind: 'lost', why: reasonOf(error) }),
      );
    });
    if (signal?.aborted === true) return interrupt();
    signal?.addEventListener('abort', interrupt);
    outgoing.end(body);
  });
}

/** The name whose certificate is asked for; an address has none. */
function serverName(host: string): string {
  const name = host.replace(/:\d+$/, '');
  return isIP(name.replace(/^\[(.*)\]$/, '$1')) === 0 ? name : '';
}

function collect(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    incoming.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) reject(new Error(`its answer is longer than ${MAX_ANSWER_BYTES} bytes`));
    });
    incoming.on('error', () => reject(new Error('its answer was cut')));
    incoming.on('end', () => resolve(Buffer.concat(chunks)));
  });
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ECONNRESET') return 'the connection was closed without an answer';
  return message === '' ? (code ?? 'unknown') : message;
}
