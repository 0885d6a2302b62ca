import { createHash } from 'node:crypto';
import { request } from 'node:http';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { AdminServer } from '../../../gateway/admin/server.ts';
import { temporaryFolder } from '../../support/files.ts';
import { FakeHost, keepingLog } from './fakeHost.ts';

export const ADMIN_TOKEN = 'the-token-of-the-operators';
export const ADMIN_TOKEN_SHA256 = createHash('sha256').update(ADMIN_TOKEN).digest('hex');

export interface AdminReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly json: Record<string, unknown>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

export interface OpenAdmin {
  readonly host: FakeHost;
  readonly server: AdminServer;
  /** `unix:PATH` or `http://HOST:PORT`. */
  readonly address: string;
  readonly records: readonly Record<string, unknown>[];
  /** As an operator does, with the token where there is one. `path` is sent as it is. */
  readonly ask: (path: string, options?: AskOptions) => Promise<AdminReply>;
}

/** An admin listener over a fake gateway, closed with the test. */
export async function openAdmin(kind: 'unix' | 'tcp', host = new FakeHost()): Promise<OpenAdmin> {
  const { log, records } = keepingLog();
  const isTcp = kind === 'tcp';
  const server = new AdminServer({ host, log, ...(isTcp && { tokenSha256: ADMIN_TOKEN_SHA256 }) });
  onTestFinished(() => server.close());
  const address = await server.open(
    isTcp ? { kind: 'tcp', host: '127.0.0.1', port: 0 } : { kind: 'unix', path: join(temporaryFolder(), 'admin.sock') },
  );
  const ask: OpenAdmin['ask'] = (path, options = {}) => {
    const token = isTcp ? { authorization: `Bearer ${ADMIN_TOKEN}` } : {};
    return askAt(address, path, { ...options, headers: { ...token, ...options.headers } });
  };
  return { host, server, address, records, ask };
}

/** One request on a connection of its own, with these headers and no others. */
export function askAt(address: string, path: string, options: AskOptions = {}): Promise<AdminReply> {
  const { method = 'GET', headers = {}, body } = options;
  const where = address.startsWith('unix:')
    ? { socketPath: address.slice('unix:'.length) }
    : { host: new URL(address).hostname, port: new URL(address).port };
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...where, path, method, headers, agent: false });
    outgoing.on('error', reject).on('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      incoming.on('error', reject).on('end', () => {
        const json = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, json });
      });
    });
    outgoing.end(body);
  });
}
