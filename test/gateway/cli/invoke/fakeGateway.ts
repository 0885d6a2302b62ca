import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Io } from '../../../../gateway/cli/command.ts';
import { packgate } from '../output.ts';
import type { Outcome } from '../output.ts';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** A header that came twice stands here twice. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** Answers one request in any way. */
export type Behaviour = (res: ServerResponse, seen: Seen) => void;

export interface FakeGateway {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** The message of the last call. */
  readonly message: () => Readonly<Record<string, never>>;
  /** `packgate invoke` with these arguments, told where this gateway is. */
  readonly invoke: (argv: readonly string[], io?: Partial<Io>) => Promise<Outcome>;
}

export const TOKEN = 'a-token-of-enough-characters';
export const TENANT = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';

/** A server that answers as it is told. `url` instead of a port: the path of a Unix socket. */
export async function fakeGateway(behaviour: Behaviour, socketPath?: string): Promise<FakeGateway> {
  const seen: Seen[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('error', () => undefined);
    req.on('end', () => {
      const { method = '', url: path = '', headers, rawHeaders } = req;
      const one = { method, path, headers, rawHeaders, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      behaviour(res, one);
    });
  });
  await new Promise<void>((done) => {
    if (socketPath === undefined) server.listen(0, '127.0.0.1', done);
    else server.listen(socketPath, done);
  });
  onTestFinished(
    () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  );
  const url =
    socketPath === undefined ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : `unix:${socketPath}`;
  return {
    url,
    seen,
    message: () => JSON.parse(seen.at(-1)?.body ?? '') as Record<string, never>,
    invoke: (argv, io = {}) =>
      packgate(['invoke', ...argv, '--url', url, '--tenant', TENANT], {
        ...io,
        env: { PACKGATE_TOKEN: TOKEN, ...io.env },
      }),
  };
}

/** Answers with this message, or this status and body. */
export function answering(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Behaviour {
  return (res) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const facts = status === 200 ? { 'kindgi-duration-ms': '12', 'kindgi-artifact-version': '20250101.1' } : {};
    res.writeHead(status, { 'content-type': 'application/json', ...facts, ...headers });
    res.end(text);
  };
}

export const result = (output: unknown): Behaviour => answering({ v: 2, kind: 'result', output });
