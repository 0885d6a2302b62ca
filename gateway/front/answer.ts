import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '../../shared/protocol/codes.ts';
import { HEADER, JSON_TYPE } from '../../shared/protocol/headers.ts';
import { PROTOCOL_VERSION } from '../../shared/protocol/limits.ts';

/** Headers that speak of one connection only, and Date, which is the gateway's own. */
const DROPPED: ReadonlySet<string> = new Set([
  'connection',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Where the answer of a service goes. */
export interface AnswerSink {
  /** Takes the head. Returns whether a body may follow. */
  begin(status: number, rawHeaders: readonly Buffer[]): boolean;
  /** False: wait for `whenWritable` before the next piece. */
  write(chunk: Buffer): boolean;
  whenWritable(action: () => void): void;
  end(): void;
}

/** The answer of a service on its way to the caller, byte for byte (A32a). */
export class Answer implements AnswerSink {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /**
   * Sends the head. Returns whether a body may follow.
   * @throws when the service's headers cannot be sent on; nothing has been written then.
   */
  begin(status: number, rawHeaders: readonly Buffer[]): boolean {
    if (!Number.isInteger(status) || status < 200 || status > 599) throw new Error(`unusable status ${status}`);
    const hasBody = mayHaveBody(status);
    // The reason phrase is never taken over: it may hold anything.
    this.#response.writeHead(status, endToEnd(rawHeaders, hasBody));
    return hasBody;
  }

  /** False: wait for `whenWritable` before the next piece. */
  write(chunk: Buffer): boolean {
    return this.#response.write(chunk);
  }

  whenWritable(action: () => void): void {
    this.#response.once('drain', action);
  }

  end(): void {
    this.#response.end();
  }

  /** Ends an answer that cannot be finished, so that the caller sees that it is not whole. */
  cut(): void {
    this.#response.destroy();
  }

  /** Sends a last piece, then cuts. */
  cutAfter(chunk: Buffer): void {
    this.#response.write(chunk, () => this.#response.destroy());
  }
}

/** Whether an answer with this status can have a body. */
export function mayHaveBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}

/** An error message of the protocol's (D16) that the gateway gives in a service's place. */
export interface OwnError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly toolId?: string;
  readonly checkId?: string;
}

/** Answers 200 with a message, like every outcome of a call (A8), and with both `kindgi-*` headers (A11). */
export function answerError(
  response: ServerResponse,
  error: OwnError,
  { durationMs, artifactVersion }: { durationMs: number; artifactVersion: string },
): void {
  const body = Buffer.from(JSON.stringify({ v: PROTOCOL_VERSION, kind: 'error', ...error }));
  response.writeHead(200, {
    'content-type': JSON_TYPE,
    'content-length': body.length,
    [HEADER.durationMs]: String(Math.round(durationMs)),
    [HEADER.artifactVersion]: artifactVersion,
  });
  response.end(body);
}

/** Names and values in turn, as `writeHead` takes them: repeated headers stay repeated. */
function endToEnd(rawHeaders: readonly Buffer[], hasBody: boolean): string[] {
  const kept: string[] = [];
  let named: Set<string> | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = latin1(rawHeaders[at]);
    const lower = name.toLowerCase();
    if (lower === 'connection') {
      // What a Connection header names is hop-by-hop too. Almost always it is just "keep-alive" or "close".
      for (const token of latin1(rawHeaders[at + 1])
        .toLowerCase()
        .split(','))
        (named ??= new Set()).add(token.trim());
    }
    if (DROPPED.has(lower) || (!hasBody && lower === 'content-length')) continue;
    kept.push(name, latin1(rawHeaders[at + 1]));
  }
  if (named === undefined) return kept;
  return kept.filter((_, at) => !named.has((kept[at - (at % 2)] ?? '').toLowerCase()));
}

function latin1(bytes: Buffer | undefined): string {
  return bytes === undefined ? '' : bytes.toString('latin1');
}
