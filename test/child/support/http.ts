import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

import { TOKEN } from './child.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; empty when it is no JSON. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

/** One request on a connection of its own; nothing is ever repeated. */
export function ask(port: number, { method = 'GET', path = '/', headers = {}, body, signal }: Ask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers, agent: false, ...(signal ? { signal } : {}) };
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export const GUARDED = { 'kindgi-pack-token': TOKEN, 'content-type': 'application/json' } as const;

/** `POST /v1/invoke` of a message, or of raw text. */
export function post(port: number, message: unknown, more: Ask = {}): Promise<Answer> {
  const body = typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message);
  return ask(port, { method: 'POST', path: '/v1/invoke', body, ...more, headers: { ...GUARDED, ...more.headers } });
}

/** An invoke message of a tool. */
export function invoke(tool: string, input: unknown = {}, ctx: object = {}, version?: string): object {
  const named = version === undefined ? { id: tool } : { id: tool, version };
  return { v: 2, kind: 'invoke', tool: named, input, ctx: { tenantId: 'tenant-a', runId: 'run-1', ...ctx } };
}

export function checkInvoke(check: string, config: unknown = {}, trace: unknown = {}): object {
  return { v: 2, kind: 'check-invoke', check: { id: check }, config, trace };
}

export function info(port: number, headers: Ask['headers'] = {}): Promise<Answer> {
  return ask(port, { path: '/v1/info', headers: { 'kindgi-pack-token': TOKEN, ...headers } });
}

/** Sends bytes as they are and gives everything that comes back until the other side closes. */
export function exchange(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = openSocket(port);
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    socket.on('close', () => resolve(received)).on('error', reject);
    socket.write(bytes);
  });
}

export function openSocket(port: number): Socket {
  return connect({ host: '127.0.0.1', port });
}

function parse(text: string): Answer['json'] {
  try {
    return JSON.parse(text) as Answer['json'];
  } catch {
    return {};
  }
}
