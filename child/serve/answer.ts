import type { IncomingMessage, ServerResponse } from 'node:http';

import { discardRest } from '../../shared/http/body.ts';
import type { Refusal } from '../../shared/http/refusal.ts';
import { HEADER, JSON_TYPE } from '../../shared/protocol/headers.ts';

/** Sends compact JSON with its length (A10). `headers` come on top. */
export function sendJson(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, headersOf(text, headers));
  response.end(text);
}

/** Sends the answer of an invoke, a message of any kind (A11). */
export function sendMessage(
  response: ServerResponse,
  text: string,
  { durationMs, artifactVersion }: { durationMs: number; artifactVersion: string },
): void {
  sendJson(response, 200, text, {
    [HEADER.durationMs]: String(durationMs),
    [HEADER.artifactVersion]: artifactVersion,
  });
}

/** Sends a refusal. Only a 421 has a code (A.2); `fields` are added to the body. */
export function sendRefusal(response: ServerResponse, refusal: Refusal, fields: object = {}): void {
  const { text, headers } = refusalParts(refusal, fields);
  const { req: request } = response;
  // On a connection that is kept, what is left of the upload is read by Node (A26).
  if (request.complete || response.shouldKeepAlive) sendJson(response, refusal.status, text, headers);
  else void sendThenDiscard(request, response, refusal.status, text, headers);
}

/**
 * Sends a 413 at once, whole, and reads on for a while, so that a fast sender gets to see it; then the connection is
 * closed (A25).
 */
export async function sendTooLarge(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
): Promise<void> {
  const { text } = refusalParts(refusal, {});
  await sendThenDiscard(request, response, refusal.status, text, { connection: 'close' });
}

/** Node closes a connection that is not kept when its answer ends; unread bytes in it would take the answer along. */
async function sendThenDiscard(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  response.writeHead(status, headersOf(text, headers));
  // The announced length is complete with this write.
  response.write(text);
  await discardRest(request);
  response.end();
}

function refusalParts(refusal: Refusal, fields: object): { text: string; headers: Record<string, string> } {
  const code = refusal.code === 'pack-tenant-mismatch' ? { code: refusal.code } : {};
  const retryAfter = refusal.retryAfterS;
  return {
    text: JSON.stringify({ error: refusal.message, ...code, ...fields }),
    headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
  };
}

function headersOf(text: string, headers: Readonly<Record<string, string>>): Record<string, string> {
  return { 'content-type': JSON_TYPE, 'content-length': String(Buffer.byteLength(text)), ...headers };
}
