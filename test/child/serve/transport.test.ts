import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { MAX_BODY_BYTES } from '../../../shared/protocol/limits.ts';
import { validate } from '../../../shared/protocol/validate.ts';
import { indexPack, packFolder, startChild, TOKEN, untilSleeping } from '../support/child.ts';
import type { Child } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { ask, exchange, GUARDED, info, invoke, openSocket, post } from '../support/http.ts';

let folder: Folder;
let child: Child;

beforeAll(async () => {
  folder = makeFolder();
  await indexPack(packFolder('node-calls'), folder.file('index.json'));
  child = await startChild({
    index: folder.file('index.json'),
    moduleRoot: packFolder('node-calls'),
    env: { KINDGI_PACK_SERVICE_MAX_CONCURRENCY: '4' },
  });
});

afterAll(async () => {
  await child.stop();
  folder.remove();
});

const echo = invoke('calls.echo', { message: 'hi' });

describe('routes', () => {
  test.each(['/healthz/', '/HEALTHZ', '//healthz', '/%68ealthz', '/', '/v1', '/v1/invoke/', '/readyz#a'])(
    'A4 A5: the path %s is unknown and the answer does not repeat it',
    async (path) => {
      const answer = await ask(child.port, { path: `${path}?key=secret-query` });
      expect(answer.status).toBe(404);
      expect(answer.text).not.toContain('secret-query');
      expect(answer.json).toEqual({ error: expect.any(String) });
    },
  );

  test.each(['http://x/healthz', '*'])('A4: the target %s is unknown', async (target) => {
    const answer = await exchange(child.port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('A4: a query is cut off before the path is compared', async () => {
    expect((await ask(child.port, { path: '/healthz?a=b' })).json).toEqual({ status: 'ok' });
  });

  test('A1 A10: the probes answer compact JSON with its length', async () => {
    const health = await ask(child.port, { path: '/healthz' });
    expect(health).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    expect(health.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': '15',
    });
    expect(await ask(child.port, { path: '/readyz' })).toMatchObject({ status: 200, text: '{"status":"ready"}' });
  });

  test.each([
    ['/v1/invoke', 'GET', 'POST'],
    ['/v1/info', 'POST', 'GET'],
    ['/healthz', 'DELETE', 'GET'],
    ['/readyz', 'OPTIONS', 'GET'],
  ])('A2 A6: %s does not take %s and names %s, also without a token', async (path, method, right) => {
    const answer = await ask(child.port, { path, method });
    expect(answer.status).toBe(405);
    expect(answer.json).toEqual({ error: expect.stringContaining(right) });
  });

  test('A6: HEAD is 405 without a body but with its length', async () => {
    const answer = await ask(child.port, { path: '/healthz', method: 'HEAD' });
    expect(answer).toMatchObject({ status: 405, text: '' });
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(0);
  });

  test('A7: a body on a GET is ignored', async () => {
    expect((await ask(child.port, { path: '/healthz', body: 'x'.repeat(1000) })).status).toBe(200);
  });

  test('A31: a request without Host is 400 and the connection is closed', async () => {
    expect(await exchange(child.port, 'GET /healthz HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('A30: a length together with chunked framing is 400', async () => {
    const head = `POST /v1/invoke HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(await exchange(child.port, `${head}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('A31: pipelined requests are answered in order', async () => {
    const one = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    const last = 'GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const answers = await exchange(child.port, one + last);
    expect(answers.indexOf('{"status":"ok"}')).toBeLessThan(answers.indexOf('{"status":"ready"}'));
    expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });
});

describe('token', () => {
  test.each([
    ['missing', {}],
    ['empty', { 'kindgi-pack-token': '' }],
    ['wrong', { 'kindgi-pack-token': 'nope' }],
    ['in another case', { 'kindgi-pack-token': TOKEN.toUpperCase() }],
    ['sent as Authorization', { authorization: `Bearer ${TOKEN}` }],
    ['sent twice', { 'kindgi-pack-token': [TOKEN, TOKEN] }],
  ])('A15 A16 A17: a token that is %s is 401 on both guarded routes', async (_name, headers) => {
    for (const [method, path] of [
      ['GET', '/v1/info'],
      ['POST', '/v1/invoke'],
    ] as const) {
      const answer = await ask(child.port, { method, path, headers: headers as Record<string, string> });
      expect(answer.status).toBe(401);
      expect(answer.json).toEqual({ error: expect.any(String) });
      expect(answer.headers).not.toHaveProperty('www-authenticate');
    }
  });

  test('A16: blanks and tabs around the token are no part of it', async () => {
    const head = `GET /v1/info HTTP/1.1\r\nHost: x\r\nConnection: close\r\nKindgi-Pack-Token:  \t ${TOKEN} \t \r\n\r\n`;
    expect(await exchange(child.port, head)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('A2 A26: 401 comes before 415 and the body, and the connection stays usable', async () => {
    const body = 'x'.repeat(5000);
    const call = `POST /v1/invoke HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 5000\r\n\r\n${body}`;
    const probe = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const answers = await exchange(child.port, call + probe);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
  });
});

describe('headers of a call', () => {
  test('A11 A10: an invoke carries its duration and the artifact version, other answers do not', async () => {
    const answer = await post(child.port, echo);
    expect(answer.headers['kindgi-duration-ms']).toMatch(/^\d+$/);
    expect(answer.headers['kindgi-artifact-version']).toBe('20260101.1');
    const refused = await post(child.port, echo, { headers: { 'content-type': 'text/plain' } });
    for (const { headers } of [refused, await info(child.port)]) {
      expect(headers).not.toHaveProperty('kindgi-duration-ms');
      expect(headers).not.toHaveProperty('kindgi-artifact-version');
    }
    expect((await post(child.port, 'no json')).headers['kindgi-artifact-version']).toBe('20260101.1');
  });

  test('A18 A19: protocol, run id, request id and (unpinned) tenant headers change nothing', async () => {
    const headers = {
      'kindgi-protocol': '99',
      'kindgi-run-id': 'other',
      'kindgi-request-id': 'other',
      'kindgi-tenant-id': 'other',
    };
    expect((await post(child.port, echo, { headers })).json).toMatchObject({ kind: 'result' });
  });

  test('A43 A45: an answer announces five seconds of keep-alive', async () => {
    const socket = openSocket(child.port);
    const [text] = await new Promise<string[]>((resolve) => {
      socket.once('data', (data: Buffer) => resolve([data.toString()]));
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    });
    socket.destroy();
    expect(text).toMatch(/\r\nKeep-Alive: timeout=5\r\n/);
  });
});

describe('content type', () => {
  test.each(['application/json', 'Application/JSON', 'application/json; charset=utf-16', 'application/json ;x=y'])(
    'A22: %s is taken',
    async (type) => {
      expect((await post(child.port, echo, { headers: { 'content-type': type } })).status).toBe(200);
    },
  );

  test.each(['', 'text/plain', 'application/jsonx', 'application/problem+json', 'text/plain, application/json'])(
    'A21 A22: "%s" is 415',
    async (type) => {
      const answer = await post(child.port, echo, { headers: { 'content-type': type } });
      expect(answer.status).toBe(415);
      expect(answer.json).toEqual({ error: expect.any(String) });
    },
  );

  test('A23: of two content types the first counts', async () => {
    const body = JSON.stringify(echo);
    const call = (types: string): string =>
      `POST /v1/invoke HTTP/1.1\r\nHost: x\r\nConnection: close\r\nkindgi-pack-token: ${TOKEN}\r\n${types}` +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    const json = 'Content-Type: application/json\r\n';
    const plain = 'Content-Type: text/plain\r\n';
    expect(await exchange(child.port, call(json + plain))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await exchange(child.port, call(plain + json))).toMatch(/^HTTP\/1\.1 415 /);
  });
});

describe('body', () => {
  /** A call of exactly `size` bytes. */
  const padded = (size: number): Buffer => {
    const text = JSON.stringify(echo);
    return Buffer.from(text + ' '.repeat(size - text.length));
  };
  const chunked = { 'transfer-encoding': 'chunked' };

  test.each([
    ['with a length', {}],
    ['chunked', chunked],
  ])('A24: exactly 10 MiB %s is read, one byte more is 413', async (_name, headers) => {
    expect((await post(child.port, padded(MAX_BODY_BYTES), { headers })).status).toBe(200);
    const answer = await post(child.port, padded(MAX_BODY_BYTES + 1), { headers });
    expect(answer.status).toBe(413);
    expect(answer.json).toEqual({ error: expect.any(String) });
    expect(answer.headers.connection).toBe('close');
  });

  test('A24: a body in chunks of one byte is counted exactly at its limit', async () => {
    // Most of it comes in one chunk: ten million chunks say no more than a hundred thousand and take a minute.
    const few = 100_000;
    const bytes = (size: number): string => '1\r\n \r\n'.repeat(size);
    const head = `POST /v1/invoke HTTP/1.1\r\nHost: x\r\nkindgi-pack-token: ${TOKEN}\r\ncontent-type: application/json\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`;
    const start = `${(MAX_BODY_BYTES - few).toString(16)}\r\n${padded(MAX_BODY_BYTES - few).toString()}\r\n`;
    const fits = head + start + bytes(few);
    expect(await exchange(child.port, `${fits}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await exchange(child.port, `${fits}${bytes(1)}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('A25: an announced length over the limit is refused before a byte of it has come', async () => {
    const head = `POST /v1/invoke HTTP/1.1\r\nHost: x\r\nkindgi-pack-token: ${TOKEN}\r\ncontent-type: application/json\r\ncontent-length: ${MAX_BODY_BYTES + 1}\r\n\r\n`;
    const socket = openSocket(child.port);
    const answer = await new Promise<string>((resolve) => {
      socket.once('data', (data: Buffer) => resolve(data.toString()));
      socket.write(head);
    });
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('A26: who sends 11 MB and asks for the connection to be closed reads why it was refused, every time of 20', async () => {
    const body = Buffer.alloc(11_000_000, 'x');
    for (let time = 0; time < 20; time += 1) {
      const answer = await post(child.port, body, { headers: { 'kindgi-pack-token': 'wrong', connection: 'close' } });
      expect(answer.status).toBe(401);
    }
  });

  test('A25: a fast sender of 50 MB reads its whole 413, every time of 20', async () => {
    const body = Buffer.alloc(50_000_000, 0x20);
    for (let round = 0; round < 20; round += 1) {
      const answer = await post(child.port, body, { headers: round % 2 === 0 ? {} : chunked });
      expect(answer.status).toBe(413);
      expect(answer.json).toEqual({ error: expect.any(String) });
    }
  }, 60_000);

  test.each([
    ['empty', ''],
    ['not JSON', '{"v":2'],
    ['two documents', `${JSON.stringify(echo)}{}`],
    ['NaN', '{"v":NaN}'],
    ['with a byte order mark', `\uFEFF${JSON.stringify(echo)}`],
    ['UTF-16', Buffer.from(JSON.stringify(echo), 'utf16le')],
    ['invalid UTF-8', Buffer.concat([Buffer.from('"'), Buffer.from([0xff]), Buffer.from('"')])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['an array', '[]'],
    ['null', 'null'],
    ['a number', '7'],
  ])('A28 D1: a body that is %s is malformed', async (_name, body) => {
    const answer = await post(child.port, body);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ kind: 'error', code: 'malformed-message' });
    expect(validate('response', answer.json)).toEqual([]);
  });

  test('A29: a POST with neither length nor chunking is an empty body', async () => {
    const head = `POST /v1/invoke HTTP/1.1\r\nHost: x\r\nkindgi-pack-token: ${TOKEN}\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n`;
    expect(await exchange(child.port, head)).toContain('malformed-message');
  });

  test('A29: of duplicate keys the last counts', async () => {
    const text =
      '{"v":1,"v":2,"kind":"invoke","tool":{"id":"x","id":"calls.echo"},"input":{"message":"a","message":"b"},"ctx":{"tenantId":"t","runId":"r"}}';
    expect((await post(child.port, text)).json).toMatchObject({ output: { message: 'b' } });
  });

  test.each([512, 5_000, 200_000])('A14: JSON %s levels deep is malformed and the service stays up', async (depth) => {
    const input = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const text = `{"v":2,"kind":"invoke","tool":{"id":"calls.return"},"input":${input},"ctx":{"tenantId":"t","runId":"r"}}`;
    expect((await post(child.port, text)).json).toMatchObject({ code: 'malformed-message' });
    expect((await post(child.port, echo)).status).toBe(200);
  });

  test('A14: brackets inside strings are no nesting', async () => {
    const message = '[{"\\'.repeat(2000);
    expect((await post(child.port, invoke('calls.echo', { message }))).json).toMatchObject({ output: { message } });
  });

  test('A41: a call that is cut in its upload frees its slot and leaves no record', async () => {
    for (let round = 0; round < 10; round += 1) {
      const socket = openSocket(child.port);
      await new Promise<void>((resolve) => {
        const head = Object.entries(GUARDED).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(`POST /v1/invoke HTTP/1.1\r\nHost: x\r\n${head.join('')}Content-Length: 100\r\n\r\n{"v":`, () =>
          resolve(),
        );
      });
      socket.destroy();
    }
    // Ten cut calls, four slots: one that was kept would show.
    const call = invoke('calls.echo', { message: 'x' }, { runId: 'after-cuts' });
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(child.port, call)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await child.waitFor(({ event, runId }) => event === 'call' && runId === 'after-cuts');
    expect(child.records.filter(({ outcome }) => outcome === 'cancelled')).toEqual([]);
  });
});

describe('anything at all', () => {
  const statuses = [200, 401, 404, 405, 413, 415, 421, 503];
  const printable = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });

  test('A1 A8 D1: any JSON body gets a message of the protocol, whatever it holds', async () => {
    const part = fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      fc.constantFrom('calls.echo', 'invoke', 'check-invoke', 2),
    );
    const message = fc.record(
      {
        v: fc.constantFrom(2, 2, 2, 1, null),
        kind: fc.constantFrom('invoke', 'check-invoke', 'x'),
        tool: part,
        check: part,
        input: part,
        config: part,
        trace: part,
        ctx: part,
      },
      { requiredKeys: ['v', 'kind'] },
    );
    const likely = fc.record({
      v: fc.constant(2),
      kind: fc.constant('invoke'),
      tool: fc.record({
        id: fc.constantFrom('calls.echo', 'calls.types', 'calls.defaults', 'calls.context', '__proto__'),
      }),
      input: fc.jsonValue(),
      ctx: fc.dictionary(fc.string(), fc.jsonValue()).map((ctx) => ({ ...ctx, tenantId: 't', runId: 'r' })),
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), message, likely), async (body) => {
        const answer = await post(child.port, JSON.stringify(body));
        expect(answer.status).toBe(200);
        expect(validate('response', answer.json)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test('A2 A8: any header values and targets get an answer of the list', async () => {
    const names = [
      'kindgi-pack-token',
      'kindgi-timeout-ms',
      'kindgi-tenant-id',
      'traceparent',
      'content-type',
      'kindgi-run-id',
    ];
    const headers = fc.dictionary(fc.constantFrom(...names), printable);
    const path = fc.oneof(
      fc.constantFrom('/v1/invoke', '/v1/info', '/healthz', '/readyz'),
      fc.webPath().map((p) => `/${p}`),
    );
    await fc.assert(
      fc.asyncProperty(headers, path, fc.constantFrom('GET', 'POST', 'PUT'), async (found, target, method) => {
        const known = { ...GUARDED, ...found };
        const body = method === 'GET' ? {} : { body: JSON.stringify(echo) };
        const answer = await ask(child.port, { method, path: target, headers: known, ...body });
        expect(statuses).toContain(answer.status);
      }),
      { numRuns: 200 },
    );
  });
});

describe('concurrency', () => {
  test('A2 A3 A9: above the cap a call is 503 overloaded, before its type is looked at, while probes and info answer', async () => {
    const before = child.stdout().split('sleeping\n').length - 1;
    const headers = { 'kindgi-timeout-ms': '1000' };
    const held = [1, 2, 3, 4].map(() => post(child.port, invoke('calls.sleep', { ms: 60_000 }), { headers }));
    await untilSleeping(child, before + 4);
    const refused = await post(child.port, echo, { headers: { 'content-type': 'text/plain' } });
    expect(refused).toMatchObject({ status: 503, json: { error: 'overloaded' } });
    expect(refused.headers['retry-after']).toBe('1');
    expect((await info(child.port)).status).toBe(200);
    expect((await ask(child.port, { path: '/readyz' })).status).toBe(200);
    for (const answer of await Promise.all(held)) expect(answer.json).toMatchObject({ code: 'deadline-exceeded' });
    expect((await post(child.port, echo)).status).toBe(200);
  });
});
