import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BrokenAnswer } from '../../../gateway/testing/brokenAnswer.ts';
import { createClient } from '../../../gateway/testing/client.ts';

interface Seen {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** A server that counts what reaches it, and a client of it. */
async function serverThat(answers: (response: ServerResponse) => void) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    request.on('end', () => {
      const body = text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>);
      seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      answers(response);
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { seen, client: createClient({ url, token: 'the-token-0123456789', tenantId: 'acme' }) };
}

const status =
  (code: number, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(code, headers).end('{}');
  };

describe('a client of packs', () => {
  it.each([421, 503, 500, 401, 408])('sends a call that is answered %i once', async (code) => {
    const { seen, client } = await serverThat(status(code, { 'retry-after': '0', connection: 'close' }));
    expect(await client.invoke('a.b')).toMatchObject({ status: code, message: undefined, body: {} });
    expect((await client.info()).status).toBe(code);
    expect(seen.map(({ line }) => line)).toEqual(['POST /v1/invoke', 'GET /v1/info']);
  });

  it('sends what a runtime sends', async () => {
    const { seen, client } = await serverThat(status(200));
    await client.invoke('a.b', [1], { version: '2.0.0', timeoutMs: 70, ctx: { runId: 'r', orgId: 'o' } });
    await client.check('a.check', { max: 1 }, { trace: 'all' });
    expect(seen[0]?.headers).toMatchObject({
      'kindgi-pack-token': 'the-token-0123456789',
      'kindgi-tenant-id': 'acme',
      'kindgi-run-id': 'r',
      'kindgi-timeout-ms': '70',
      'kindgi-protocol': '2',
      'content-type': 'application/json',
    });
    expect(seen[0]?.body).toEqual({
      v: 2,
      kind: 'invoke',
      tool: { id: 'a.b', version: '2.0.0' },
      input: [1],
      ctx: { tenantId: 'acme', runId: 'r', orgId: 'o' },
    });
    expect(seen[1]?.headers).not.toHaveProperty('kindgi-timeout-ms');
    expect(seen[1]?.body).toEqual({
      v: 2,
      kind: 'check-invoke',
      check: { id: 'a.check' },
      config: { max: 1 },
      trace: 'all',
    });
  });

  it('names another tenant in the header, in the context, or none', async () => {
    const { seen, client } = await serverThat(status(200));
    await client.invoke('a.b', {}, { asTenant: 'other' });
    await client.invoke('a.b', {}, { asTenant: { ctx: 'other' } });
    await client.invoke('a.b', {}, { asTenant: { header: 'x', ctx: 'y' } });
    await client.invoke('a.b', {}, { asTenant: { header: null } });
    await client.info({ asTenant: 'other', headers: { 'x-more': ['1', '2'] } });
    const tenants = seen.map(({ headers, body }) => [
      headers['kindgi-tenant-id'],
      (body?.ctx as { tenantId: string } | undefined)?.tenantId,
    ]);
    expect(tenants).toEqual([
      ['other', 'acme'],
      ['acme', 'other'],
      ['x', 'y'],
      [undefined, 'acme'],
      ['other', undefined],
    ]);
    expect(seen.at(-1)?.headers['x-more']).toBe('1, 2');
  });

  it('tells an answer that is cut from one that never came, with what had come', async () => {
    const none = await serverThat((response) => response.destroy());
    await expect(none.client.invoke('a.b')).rejects.toMatchObject({ name: 'BrokenAnswer', status: undefined });
    const half = await serverThat((response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('12345', () => response.destroy());
    });
    await expect(half.client.invoke('a.b')).rejects.toMatchObject({ status: 200, text: '12345' });
    const chunked = await serverThat((response) => {
      response.writeHead(200);
      response.write('123', () => response.destroy());
    });
    await expect(chunked.client.invoke('a.b')).rejects.toThrow(BrokenAnswer);
    expect([none, half, chunked].map(({ seen }) => seen.length)).toEqual([1, 1, 1]);
  });
});
