import assert from 'node:assert/strict';

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { parseResponse } from '../../../shared/conform/client/response.ts';
import { validate } from '../../../shared/protocol/validate.ts';
import { startChild } from '../support/child.ts';
import type { Child } from '../support/child.ts';
import type { Folder } from '../support/folder.ts';
import { ask, invoke, openSocket, post } from '../support/http.ts';
import { makePropertyPack } from './pack.ts';
import { anyRequest, encode, TENANT } from './requests.ts';
import type { AnyRequest } from './requests.ts';

/** Every status that a request can have, all of A.2 but 500; 400 and 431 are HTTP's, for what is no request. */
const STATUSES = [200, 400, 401, 404, 405, 413, 415, 421, 431];
const PATIENCE_MS = 5_000;

let folder: Folder;
let children: readonly Child[];

beforeAll(async () => {
  folder = makePropertyPack();
  const index = folder.file('index.json');
  const env = { KINDGI_PACK_TENANT_ID: TENANT };
  children = await Promise.all([startChild({ index }), startChild({ index, env })]);
});

afterAll(async () => {
  await Promise.all(children.map((child) => child.stop()));
  folder.remove();
});

/** Everything that came back until the service closed, as it was asked to; rejects when that takes too long. */
function exchange(port: number, request: AnyRequest): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = openSocket(port);
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end within ${PATIENCE_MS} ms`));
    }, PATIENCE_MS);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A refusal may come before the body was sent to its end; what was answered counts.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
    socket.write(encode(request));
  });
}

test('A8 D1 D12: any request whatsoever is answered from the list of the protocol, never with a 500, and in time', async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(anyRequest, fc.boolean(), async (request, isPinned) => {
      const received = await exchange(children[isPinned ? 1 : 0]?.port ?? 0, request);
      const parsed = parseResponse(received, false, true);
      assert.ok(parsed, `no answer: ${received.toString('latin1')}`);
      // No second answer behind the first: nothing of the body was taken for a request.
      expect(parsed.used).toBe(received.length);
      expect(STATUSES).toContain(parsed.response.status);
      const { kind, problems } = judge(request.target, parsed.response);
      expect(problems).toEqual([]);
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }),
    { numRuns: 2_000, interruptAfterTimeLimit: 9_000, markInterruptAsFailure: false },
  );
  // The generator is worth something only when it gets that far.
  for (const kind of [
    'result',
    'check-result',
    'malformed-message',
    'input-validation-failed',
    'handler-throw',
    '421',
  ]) {
    expect([...seen.keys()]).toContain(kind);
  }
});

/** What an answer is, and what is wrong with it. */
function judge(
  target: string,
  { status, body }: { status: number; body: Buffer },
): { kind: string; problems: readonly unknown[] } {
  const kind = String(status);
  // What is no request by HTTP's own rules is answered before anything of ours sees it.
  if (status === 400 || status === 431) return { kind, problems: [] };
  const json = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  if (status !== 200) return { kind, problems: typeof json.error === 'string' ? [] : [json] };
  if (target === '/v1/info') return { kind: 'info', problems: validate('info', json) };
  if (!target.startsWith('/v1/invoke')) return { kind: 'probe', problems: [] };
  return { kind: String(json.code ?? json.kind), problems: validate('response', json) };
}

test('A8 C20: afterwards both services are as they were, and nothing went wrong in them', async () => {
  for (const child of children) {
    expect((await ask(child.port, { path: '/readyz' })).status).toBe(200);
    const headers = { 'kindgi-tenant-id': TENANT };
    const answer = await post(child.port, invoke('acme.echo', 'hello', { tenantId: TENANT }), { headers });
    expect(answer.json).toEqual({ v: 2, kind: 'result', output: 'hello' });
    expect(child.records.filter(({ level, subsystem }) => level === 'error' && subsystem === 'pack')).toEqual([]);
    child.kill('SIGTERM');
    expect(await child.exit).toEqual({ code: 0, signal: null });
  }
});
