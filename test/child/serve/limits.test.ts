import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { indexPack, packFolder, startChild, until, untilSleeping } from '../support/child.ts';
import type { Child, LogRecord } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { GUARDED, invoke, openSocket, post } from '../support/http.ts';

let folder: Folder;
let child: Child;

beforeAll(async () => {
  folder = makeFolder();
  await indexPack(packFolder('node-calls'), folder.file('index.json'));
  child = await startChild({
    index: folder.file('index.json'),
    moduleRoot: packFolder('node-calls'),
    env: { KINDGI_PACK_SERVICE_MAX_CONCURRENCY: '1' },
  });
});

afterAll(async () => {
  await child.stop();
  folder.remove();
});

const callOf =
  (runId: string, outcome: string) =>
  (record: LogRecord): boolean =>
    record.event === 'call' && record.runId === runId && record.outcome === outcome;

const bytesOf = (message: object): string => {
  const body = JSON.stringify(message);
  const head = Object.entries(GUARDED).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /v1/invoke HTTP/1.1\r\nHost: x\r\n${head.join('')}Content-Length: ${body.length}\r\n\r\n${body}`;
};

describe('deadline', () => {
  test('A33 A37: it is answered in time, the handler learns why, and the slot is free although the handler runs on', async () => {
    const started = performance.now();
    const answer = await post(child.port, invoke('calls.sleep', { ms: 900, ignoresSignal: true }, { runId: 'late' }), {
      headers: { 'kindgi-timeout-ms': '200' },
    });
    const elapsed = performance.now() - started;
    expect(answer.json).toEqual({
      v: 2,
      kind: 'error',
      code: 'deadline-exceeded',
      message: expect.any(String),
      toolId: 'calls.sleep',
    });
    expect(elapsed).toBeGreaterThan(190);
    expect(elapsed).toBeLessThan(850);
    expect(Number(answer.headers['kindgi-duration-ms'])).toBeGreaterThan(190);
    expect((await post(child.port, invoke('calls.echo', { message: 'next' }))).status).toBe(200);
    const late = await child.waitFor(({ event, runId }) => event === 'handler-finished-late' && runId === 'late');
    expect(late).toMatchObject({ level: 'warn', target: 'tool', toolId: 'calls.sleep' });
    expect(late.afterMs).toBeGreaterThan(850);
    await until('the handler was told', () => child.stdout().includes('stop: deadline-exceeded\n'));
  });

  test.each(['0', '-1', 'abc', '', '100.5', '1e2', '+100', '0x64', 'Infinity', '1_00'])(
    'A34 A35: "%s" is no deadline',
    async (value) => {
      const headers = { 'kindgi-timeout-ms': value };
      const answer = await post(child.port, invoke('calls.sleep', { ms: 250 }), { headers });
      expect(answer.json).toMatchObject({ output: 'slept' });
    },
  );

  test('A35: a deadline sent twice is none, one with zeros and blanks in front is one', async () => {
    const twice = { 'kindgi-timeout-ms': ['100', '100'] };
    expect((await post(child.port, invoke('calls.sleep', { ms: 250 }), { headers: twice })).json).toMatchObject({
      output: 'slept',
    });
    const padded = { 'kindgi-timeout-ms': ' 0100 ' };
    expect((await post(child.port, invoke('calls.sleep', { ms: 5000 }), { headers: padded })).json).toMatchObject({
      code: 'deadline-exceeded',
    });
  });

  test.each(['2147483648', '99999999999999999999'])('A36: %s does not fail at once', async (value) => {
    const headers = { 'kindgi-timeout-ms': value };
    expect((await post(child.port, invoke('calls.sleep', { ms: 50 }), { headers })).json).toMatchObject({
      output: 'slept',
    });
  });

  test('A38: a handler that held the event loop past its deadline answers with its result', async () => {
    const headers = { 'kindgi-timeout-ms': '50' };
    expect((await post(child.port, invoke('calls.block', { ms: 200 }), { headers })).json).toMatchObject({
      output: 'blocked',
    });
  });
});

describe('cancellation', () => {
  test('A39 A40: closing the connection cancels the call, and its slot is free', async () => {
    const before = child.stdout().split('sleeping\n').length - 1;
    for (let round = 1; round <= 10; round += 1) {
      const runId = `closed-${round}`;
      const socket = openSocket(child.port);
      socket.write(bytesOf(invoke('calls.sleep', { ms: 60_000 }, { runId })));
      await untilSleeping(child, before + round);
      socket.destroy();
      const record = await child.waitFor(callOf(runId, 'cancelled'));
      expect(record).toMatchObject({ level: 'warn', toolId: 'calls.sleep' });
    }
    expect((await post(child.port, invoke('calls.echo', { message: 'next' }))).status).toBe(200);
    await until('the handlers were told', () => child.stdout().split('stop: cancelled\n').length > 10);
  });

  test('A40: a half-close cancels as well, and the connection is closed without an answer', async () => {
    const socket = openSocket(child.port);
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    socket.end(bytesOf(invoke('calls.sleep', { ms: 60_000 }, { runId: 'half' })));
    await child.waitFor(callOf('half', 'cancelled'));
    await closed;
    expect(received).toBe('');
  });
});
