import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { EXIT } from '../../shared/process/contract.ts';
import type { AdminPlace } from './adminPlace.ts';
import { CommandError } from './command.ts';
import { printable } from './printable.ts';

/** What the admin API answered. */
export interface AdminAnswer {
  readonly status: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** How long an answer may take that waits for nothing. */
const ANSWER_MS = 15_000;

/** 5,000 deployments with their boots; more is no answer of a gateway. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/**
 * Asks the gateway once. `waitMs`: how much longer than usual the answer may take.
 * @throws {CommandError} when nothing answers, or something else than a gateway, or the token is wrong.
 */
export async function askGateway(
  place: AdminPlace,
  method: 'GET' | 'POST',
  path: string,
  waitMs = 0,
): Promise<AdminAnswer> {
  const { status, text } = await exchange(place, method, path, ANSWER_MS + waitMs).catch((error: unknown) => {
    throw unreachable(place, error as NodeJS.ErrnoException);
  });
  const data = recordIn(text);
  if (data === undefined) throw stranger(place, status);
  const error = typeof data.error === 'string' ? printable(data.error) : '';
  if (status === 401) {
    const hint = 'Set PACKGATE_ADMIN_TOKEN, or name the configuration whose admin.token it is with -c <file>.';
    throw new CommandError(EXIT.failed, `the gateway at ${place.text} does not take this token`, hint);
  }
  if (status === 403) {
    throw new CommandError(EXIT.failed, `the gateway at ${place.text} refuses: ${error}`, 'Address it like that.');
  }
  // The public listener answers like this, and anything that is no gateway.
  if (data.code === 'not-found') throw stranger(place, status);
  if (status === 400 || status >= 500) {
    const hint = 'Its log says more.';
    throw new CommandError(EXIT.failed, `the gateway at ${place.text} answered ${status}: ${error}`, hint);
  }
  return { status, data };
}

function exchange(
  { connect, token }: AdminPlace,
  method: string,
  path: string,
  timeoutMs: number,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      ...connect,
      method,
      path,
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        accept: 'application/json',
        ...(method === 'POST' && { 'content-length': 0 }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming: IncomingMessage) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) incoming.destroy(new Error('its answer has no end'));
      });
      incoming.on('error', reject);
      incoming.on('end', () => {
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.end();
  });
}

function recordIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isRecord ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function stranger({ text }: AdminPlace, status: number): CommandError {
  const hint = 'Is it the admin listener, and not the public one?';
  return new CommandError(EXIT.unreachable, `what answers at ${text} (status ${status}) is no admin listener`, hint);
}

function unreachable({ text }: AdminPlace, { name, code, message }: NodeJS.ErrnoException): CommandError {
  const hints: Readonly<Record<string, string>> = {
    EACCES: 'Run this as the user who runs the gateway.',
    ENOTFOUND: 'No host has that name.',
    TimeoutError: 'It may be stuck; its log says more.',
  };
  if (code === 'ECONNREFUSED' || code === 'ENOENT') {
    return new CommandError(EXIT.unreachable, `no gateway answers at ${text}`, 'Start it with "packgate serve".');
  }
  const why = name === 'AbortError' || name === 'TimeoutError' ? 'no answer in time' : message;
  const hint = hints[code ?? ''] ?? hints[name] ?? 'Is it running?';
  return new CommandError(EXIT.unreachable, `no gateway answers at ${text} (${printable(why)})`, hint);
}
