import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { indexPack, packFolder, startChild, TOKEN, untilSleeping } from '../support/child.ts';
import type { Child } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { ask, info, invoke, openSocket, post } from '../support/http.ts';

let folder: Folder;
let child: Child;

beforeAll(async () => {
  folder = makeFolder();
  await indexPack(packFolder('node-calls'), folder.file('index.json'));
});

afterEach(() => child.stop());
afterAll(() => folder.remove());

async function start(env: Record<string, string> = {}): Promise<Child> {
  child = await startChild({ index: folder.file('index.json'), moduleRoot: packFolder('node-calls'), env });
  return child;
}

const eventsOf = (): unknown[] => child.records.map(({ event }) => event);
const STOPPED = { code: 0, signal: null };

describe('stopping', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'C29 C30 C36: an idle service exits at once with 0 on %s',
    async (signal) => {
      const { kill, exit } = await start();
      const started = performance.now();
      kill(signal);
      expect(await exit).toEqual(STOPPED);
      expect(performance.now() - started).toBeLessThan(1500);
      expect(eventsOf()).toEqual(['listening', 'draining', 'stopped']);
    },
  );

  test('C37: a signal right after the listening line still ends with 0, every time of 10', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { kill, exit } = await start();
      kill('SIGTERM');
      expect(await exit).toEqual(STOPPED);
    }
  });

  test('C29 C30 A3 A9: a call under way ends, new ones are refused, probes and info answer', async () => {
    const { port, kill, exit, waitFor } = await start({ KINDGI_PACK_ENV_CHECK: 'warn' });
    const held = post(port, invoke('calls.sleep', { ms: 1500 }));
    await untilSleeping(child, 1);
    kill('SIGTERM');
    await waitFor(({ event }) => event === 'draining');
    for (const answer of [
      await post(port, invoke('calls.echo', { message: 'x' })),
      await ask(port, { path: '/readyz' }),
    ]) {
      expect(answer).toMatchObject({ status: 503, json: { error: 'draining' } });
      expect(answer.headers['retry-after']).toBe('1');
    }
    expect((await info(port)).status).toBe(200);
    expect((await ask(port, { path: '/healthz' })).status).toBe(200);
    expect((await held).json).toMatchObject({ output: 'slept' });
    const ended = performance.now();
    expect(await exit).toEqual(STOPPED);
    expect(performance.now() - ended).toBeLessThan(1000);
    expect(eventsOf()).toEqual(['listening', 'draining', 'call', 'stopped']);
  });

  test('C31: idle and silent connections do not delay the exit', async () => {
    const { port, kill, exit } = await start();
    const sockets = Array.from({ length: 5 }, () => openSocket(port).on('error', () => undefined));
    const used = openSocket(port).on('error', () => undefined);
    await new Promise((resolve) => {
      used.once('data', resolve);
      used.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    });
    const started = performance.now();
    kill('SIGTERM');
    expect(await exit).toEqual(STOPPED);
    expect(performance.now() - started).toBeLessThan(1500);
    for (const socket of [...sockets, used]) socket.destroy();
  });

  test('C30: a large answer to a slow reader is sent whole before the exit', async () => {
    const { port, kill, exit } = await start();
    const message = 'x'.repeat(8_000_000);
    const body = JSON.stringify(invoke('calls.echo', { message }));
    const socket = openSocket(port);
    socket.write(
      `POST /v1/invoke HTTP/1.1\r\nHost: x\r\nkindgi-pack-token: ${TOKEN}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    let received = 0;
    await new Promise<void>((resolve) => {
      socket.once('data', (data: Buffer) => {
        received += data.length;
        socket.pause();
        resolve();
      });
    });
    kill('SIGTERM');
    await child.waitFor(({ event }) => event === 'draining');
    await new Promise<void>((resolve) => {
      socket.on('data', (data: Buffer) => (received += data.length));
      socket.on('close', () => resolve());
      socket.resume();
    });
    expect(received).toBeGreaterThan(message.length);
    expect(await exit).toEqual(STOPPED);
  });

  test('C35: a second signal ends the drain now, with 0', async () => {
    const { port, kill, exit, waitFor } = await start();
    const held = post(port, invoke('calls.sleep', { ms: 60_000 })).catch((error: NodeJS.ErrnoException) => error.code);
    await untilSleeping(child, 1);
    kill('SIGTERM');
    await waitFor(({ event }) => event === 'draining');
    const started = performance.now();
    kill('SIGTERM');
    expect(await exit).toEqual(STOPPED);
    expect(performance.now() - started).toBeLessThan(1500);
    expect(await held).toBe('ECONNRESET');
    expect(eventsOf()).toContain('stopped');
  });

  test('C32 C33: after 8 seconds what is left is cut, a call and half a body, and the exit code is 0', async () => {
    const { port, kill, exit } = await start();
    const held = post(port, invoke('calls.sleep', { ms: 60_000 })).catch((error: NodeJS.ErrnoException) => error.code);
    const socket = openSocket(port).on('error', () => undefined);
    socket.write(
      `POST /v1/invoke HTTP/1.1\r\nHost: x\r\nkindgi-pack-token: ${TOKEN}\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{`,
    );
    await untilSleeping(child, 1);
    const started = performance.now();
    kill('SIGTERM');
    expect(await exit).toEqual(STOPPED);
    const elapsed = performance.now() - started;
    expect(elapsed).toBeGreaterThan(7_900);
    expect(elapsed).toBeLessThan(9_500);
    expect(await held).toBe('ECONNRESET');
    expect(eventsOf()).toEqual(['listening', 'draining', 'stopped']);
  });
});
