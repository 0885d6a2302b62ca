import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { HEADER } from '../../shared/protocol/headers.ts';
import { PROTOCOL_VERSION } from '../../shared/protocol/limits.ts';
import type { CallContext, Json, JsonObject, PackInfo, PackResponse } from '../../shared/protocol/messages.ts';
import { BrokenAnswer } from './brokenAnswer.ts';

export interface ClientOptions {
  /** `http://HOST:PORT` of a gateway or of a pack service. */
  readonly url: string;
  readonly token: string;
  /** The tenant that it calls for. */
  readonly tenantId: string;
}

/** An answer, whole. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; undefined where it is none. With status 200 of a call it is a response message. */
  readonly body: unknown;
}

/** The answer to a call. */
export interface CallAnswer extends Answer {
  /** There with status 200 (A8). */
  readonly message: PackResponse | undefined;
}

export interface InfoAnswer extends Answer {
  /** There with status 200. */
  readonly info: PackInfo | undefined;
}

export interface SendOptions {
  /** `kindgi-timeout-ms`. Default: none is sent, which means 120,000. */
  readonly timeoutMs?: number;
  /**
   * Sends another tenant than the client's, which is what a misrouted call does: 421. A text stands in the header and leaves
   * the context alone; `{ ctx }` in the context alone; `{ header: null }` leaves the header out.
   */
  readonly asTenant?: string | { readonly header?: string | null; readonly ctx?: string };
  /** More headers, or other values of those that are sent. A list sends one several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Closes the connection, which cancels the call (A39). */
  readonly signal?: AbortSignal;
}

export interface InvokeOptions extends SendOptions {
  /** Exactly this version of the tool. */
  readonly version?: string;
  /** More of the context, or other values of what is sent. */
  readonly ctx?: Partial<CallContext>;
}

export interface CheckOptions extends SendOptions {
  /** What the check looks at. Default: `{}`. */
  readonly trace?: Json;
}

/**
 * Calls packs as a runtime does, each call on a connection of its own. It never sends anything twice: not after a 421, which
 * `fetch` does by its specification, nor after anything else.
 */
export interface PackClient {
  /** Runs a tool. Rejects with `BrokenAnswer` when the connection ends before the answer does. */
  invoke(tool: string, input?: Json, options?: InvokeOptions): Promise<CallAnswer>;
  /** Runs a check. */
  check(check: string, config?: JsonObject, options?: CheckOptions): Promise<CallAnswer>;
  /** `/v1/info`. */
  info(options?: SendOptions): Promise<InfoAnswer>;
}

export function createClient({ url, token, tenantId }: ClientOptions): PackClient {
  const send = async (path: string, message: unknown, runId: string, options: SendOptions): Promise<CallAnswer> => {
    const { timeoutMs, asTenant, headers, signal } = options;
    const header = typeof asTenant === 'object' ? asTenant.header : asTenant;
    const requestId = randomUUID();
    const answer = await exchange(new URL(path, url), {
      headers: {
        [HEADER.token]: token,
        ...(header !== null && { [HEADER.tenantId]: header ?? tenantId }),
        [HEADER.runId]: runId,
        [HEADER.requestId]: requestId,
        [HEADER.protocol]: String(PROTOCOL_VERSION),
        ...(timeoutMs !== undefined && { [HEADER.timeoutMs]: String(timeoutMs) }),
        ...(message !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: message === undefined ? undefined : JSON.stringify(message),
      signal,
    });
    return { ...answer, message: answer.status === 200 ? (answer.body as PackResponse) : undefined };
  };
  return {
    invoke: (tool, input = {}, options = {}) => {
      const { version, asTenant } = options;
      const runId = randomUUID();
      const ctx = {
        tenantId: (typeof asTenant === 'object' ? asTenant.ctx : undefined) ?? tenantId,
        runId,
        ...options.ctx,
      };
      const message = {
        v: PROTOCOL_VERSION,
        kind: 'invoke',
        tool: { id: tool, ...(version !== undefined && { version }) },
        input,
        ctx,
      };
      return send('/v1/invoke', message, ctx.runId, options);
    },
    check: (check, config = {}, options = {}) => {
      const message = {
        v: PROTOCOL_VERSION,
        kind: 'check-invoke',
        check: { id: check },
        config,
        trace: options.trace ?? {},
      };
      return send('/v1/invoke', message, randomUUID(), options);
    },
    info: async (options = {}) => {
      const { message: _, ...answer } = await send('/v1/info', undefined, randomUUID(), options);
      return { ...answer, info: answer.status === 200 ? (answer.body as PackInfo) : undefined };
    },
  };
}

interface Sent {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Undefined: a GET. */
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
}

function exchange(url: URL, { headers, body, signal }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(headers as Record<string, string | string[]>),
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      },
      agent: false,
      ...(signal && { signal }),
    });
    outgoing.on('error', (cause) => reject(new BrokenAnswer(undefined, '', cause)));
    outgoing.on('response', (incoming) => receive(incoming, resolve, reject));
    outgoing.end(body);
  });
}

function receive(incoming: IncomingMessage, resolve: (answer: Answer) => void, reject: (cause: Error) => void): void {
  const { statusCode: status = 0, headers } = incoming;
  const chunks: Buffer[] = [];
  const textSoFar = (): string => Buffer.concat(chunks).toString();
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('error', (cause) => reject(new BrokenAnswer(status, textSoFar(), cause)));
  incoming.on('end', () => {
    const text = textSoFar();
    resolve({ status, headers, text, body: parse(text) });
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
