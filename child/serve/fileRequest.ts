import { request as requestHttp } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';

import { FilesError } from './filesError.ts';

/** Where a call's files are, and the token for it: for the `Authorization` header of these requests, nowhere else. */
export interface FileHost {
  readonly url: string;
  readonly token: string;
}

export interface FileRequest {
  readonly method: 'GET' | 'POST';
  /** Added to the host's path. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** A whole answer with status 200. */
export interface FileAnswer {
  /** Media type, in lower case, without parameters. */
  readonly type: string;
  readonly bytes: Buffer;
}

/**
 * Sends one request to the runtime's file store and reads its answer whole. `node:http` sends exactly what it is told: it
 * follows no redirect, which would take the token elsewhere, repeats nothing, and uses no proxy, which might write headers
 * down (D40, D41). Each request has its own connection: a kept one may break under the next. Rejects with a `FilesError`.
 */
export async function sendFileRequest(host: FileHost, request: FileRequest, signal: AbortSignal): Promise<FileAnswer> {
  if (signal.aborted) throw ended(signal);
  const sent = open(host, request);
  const giveUp = (): void => void sent.destroy();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await readAnswer(await responseTo(sent, request.body));
  } catch (error) {
    if (signal.aborted) throw ended(signal);
    throw error instanceof FilesError ? error : broken(error as NodeJS.ErrnoException);
  } finally {
    signal.removeEventListener('abort', giveUp);
    // The answer may have come before the end of a long body.
    sent.destroy();
  }
}

function open(host: FileHost, { method, path, headers, body }: FileRequest): ClientRequest {
  const target = urlFor(host, path);
  const options: RequestOptions = {
    method,
    agent: false,
    headers: {
      Authorization: `Bearer ${host.token}`,
      ...headers,
      ...(body !== undefined && { 'Content-Length': body.byteLength }),
    },
  };
  return target.protocol === 'https:' ? requestHttps(target, options) : requestHttp(target, options);
}

/** `<url>/<id>`, before a query where the url has one. User info in it would be a second credential. */
function urlFor({ url }: FileHost, path: string): URL {
  const end = url.search(/[?#]/);
  const target = new URL(end < 0 ? `${url}${path}` : `${url.slice(0, end)}${path}${url.slice(end)}`);
  target.username = '';
  target.password = '';
  return target;
}

/** The listeners stay: an error of the connection after its answer is nobody's business, but unheard it would end the process. */
function responseTo(sent: ClientRequest, body: Uint8Array | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.on('response', resolve).on('error', reject);
    sent.end(body);
  });
}

async function readAnswer(response: IncomingMessage): Promise<FileAnswer> {
  const { statusCode: status } = response;
  // Whoever says so, the runtime or something before it, nothing was done, and a file sent again is the first one (D37).
  if (status === 503) {
    throw new FilesError(
      'tool-files-busy',
      'the runtime has no room for the file now; trying again is allowed',
      status,
    );
  }
  if (status !== 200) throw new FilesError('tool-files-failed', `the runtime answered with status ${status}`, status);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const [type = ''] = (response.headers['content-type'] ?? '').split(';');
  return { type: type.trim().toLowerCase(), bytes: Buffer.concat(chunks) };
}

/** Without the error itself: its text has the address. */
function broken({ code }: NodeJS.ErrnoException): FilesError {
  return new FilesError('tool-files-failed', `the connection to the runtime broke: ${code ?? 'no reason known'}`);
}

function ended(signal: AbortSignal): FilesError {
  return new FilesError('tool-files-ended', `the call is over: ${String(signal.reason)}`);
}
