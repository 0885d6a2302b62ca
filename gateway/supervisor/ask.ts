import { request } from 'node:http';

/** An answer to a question of the gateway's own: small, read whole. */
export interface Reply {
  /** 0 when there is none, because the question could not even be asked. */
  readonly status: number;
  /** The body when it is a JSON object, else undefined. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

export interface Question {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

/** Errors that say something of this process, not of the service: no descriptor, no port, no memory left. */
const OWN_ERRORS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'EAGAIN']);
const NOT_ASKED: Reply = { status: 0, body: undefined };

const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/**
 * Asks a service one question on a connection of its own. Undefined: no usable answer, for whatever reason of its. What
 * listens there may be anything until it is proven, so nothing of its answer is trusted and none of it is kept.
 */
export function ask(origin: string, path: string, question: Question): Promise<Reply | undefined> {
  return new Promise((resolve) => {
    const outgoing = request(new URL(path, origin), {
      method: question.method ?? 'GET',
      headers: {
        ...question.headers,
        ...(question.body !== undefined && {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(question.body)),
        }),
      },
      agent: false,
      signal: AbortSignal.timeout(question.timeoutMs),
    });
    outgoing.on('error', ({ code }: NodeJS.ErrnoException) => resolve(OWN_ERRORS.has(code) ? NOT_ASKED : undefined));
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_REPLY_BYTES) outgoing.destroy();
        else chunks.push(chunk);
      });
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: objectIn(Buffer.concat(chunks)) }));
      incoming.on('close', () => resolve(undefined));
      incoming.on('error', () => resolve(undefined));
    });
    outgoing.end(question.body);
  });
}

function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
