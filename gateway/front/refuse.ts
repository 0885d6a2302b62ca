import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { discardRest } from '../../shared/http/body.ts';
import { Refusal } from '../../shared/http/refusal.ts';
import { JSON_TYPE } from '../../shared/protocol/headers.ts';

/** How long a connection that sent no request may linger, so that its sender gets to read the answer. */
const LINGER_MS = 5_000;

/** Answers a call that is not run, or may have been, in words that name no other tenant, path, port or output of a pack. */
export function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = bodyOf(refusal);
  response.writeHead(refusal.status, {
    'content-type': JSON_TYPE,
    'content-length': body.length,
    ...(refusal.retryAfterS !== undefined && { 'retry-after': String(refusal.retryAfterS) }),
    ...(refusal.code === 'bad-request' && { connection: 'close' }),
  });
  if (request.complete) response.end(body);
  else {
    response.write(body);
    void linger(request, response);
  }
}

/** Answers what Node's parser could not make a request of; there is no response object then. */
export function refuseRaw(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = new Refusal(rawCode(error.code), { cause: error });
  const body = bodyOf(refusal);
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? 'Error'}\r\n` +
      `content-type: ${JSON_TYPE}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body.toString()}`,
  );
  // The rest of what it sends is thrown away by Node; half a minute of it would be too much.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

function rawCode(code: string | undefined): 'headers-too-large' | 'request-timeout' | 'bad-request' {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers-too-large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request-timeout' : 'bad-request';
}

function bodyOf(refusal: Refusal): Buffer {
  return Buffer.from(JSON.stringify({ error: refusal.message, code: refusal.code }));
}

/**
 * Closing a connection with unread bytes in it takes the answer along, so what is left of an upload is read and forgotten
 * first. The answer has its length and is whole for its reader; to Node it ends only then, because at the end of an
 * answer to `Connection: close` Node closes.
 */
async function linger(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await discardRest(request);
  response.end();
  if (!request.complete) request.socket.destroy();
}
