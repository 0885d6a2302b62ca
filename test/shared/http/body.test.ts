import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';

import { announcesMoreThan, discardRest, readBody } from '../../../shared/http/body.ts';
import type { Body } from '../../../shared/http/body.ts';

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** Serves one handler and connects to it. */
async function open(handler: Handler): Promise<Socket> {
  const created = createServer((request, response) => void handler(request, response));
  server = created;
  await new Promise<void>((resolve) => created.listen(0, '127.0.0.1', resolve));
  return connect((created.address() as AddressInfo).port, '127.0.0.1');
}

const POST = 'POST / HTTP/1.1\r\nHost: x\r\n';

/** What the reader makes of the bytes sent by `send`. */
function bodyOf(maxBytes: number, send: (socket: Socket) => void): Promise<Body> {
  return new Promise((resolve, reject) => {
    open(async (request) => resolve(await readBody(request, maxBytes))).then((socket) => {
      socket.on('error', () => undefined);
      send(socket);
    }, reject);
  });
}

describe('reading a body', () => {
  test('A24: exactly the limit is whole, one byte more is too large, with a length and chunked', async () => {
    const exact = await bodyOf(10, (socket) => socket.write(`${POST}Content-Length: 10\r\n\r\n0123456789`));
    expect(exact).toEqual({ kind: 'whole', bytes: Buffer.from('0123456789') });
    const chunked = await bodyOf(10, (socket) =>
      socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n`),
    );
    expect(chunked).toEqual({ kind: 'whole', bytes: Buffer.from('0123456789') });
    const over = await bodyOf(10, (socket) =>
      socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n7\r\n4567890\r\n0\r\n\r\n`),
    );
    expect(over).toEqual({ kind: 'too-large' });
  });

  test('A27: whoever waits for a body can give it up: it is cut, and nothing more of it is held', async () => {
    let received: IncomingMessage | undefined;
    let giveUp: (() => void) | undefined;
    const body = new Promise<Body>((resolve, reject) => {
      open(async (request) => {
        received = request;
        resolve(await readBody(request, 100, (cancel) => (giveUp = cancel)));
      }).then((socket) => {
        socket.write(`${POST}Content-Length: 10\r\n\r\n01234`, () => setTimeout(() => giveUp?.(), 50));
      }, reject);
    });
    expect(await body).toEqual({ kind: 'cut' });
    expect([received?.isPaused(), received?.destroyed, received?.listenerCount('data')]).toEqual([true, false, 0]);
  });

  test('A24: many small chunks are joined in order', async () => {
    const text = Array.from({ length: 30_000 }, (_, at) => String(at % 10)).join('');
    const chunks = text
      .split('')
      .map((char) => `1\r\n${char}\r\n`)
      .join('');
    const body = await bodyOf(100_000, (socket) =>
      socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`),
    );
    expect(body.kind === 'whole' && body.bytes.toString()).toBe(text);
  });

  test('A29: no length and no chunks is an empty body', async () => {
    const body = await bodyOf(10, (socket) => socket.write(`${POST}\r\n`));
    expect(body).toEqual({ kind: 'whole', bytes: Buffer.alloc(0) });
  });

  test('A41: a body that is not sent to its end is cut', async () => {
    const body = await bodyOf(10, (socket) =>
      socket.write(`${POST}Content-Length: 10\r\n\r\n012`, () => socket.destroy()),
    );
    expect(body).toEqual({ kind: 'cut' });
  });

  test('A25: the announced length is known before a byte of the body', async () => {
    const answers = await new Promise<boolean[]>((resolve, reject) => {
      open((request) => resolve([announcesMoreThan(request, 10), announcesMoreThan(request, 9)])).then(
        (socket) => socket.write(`${POST}Content-Length: 10\r\n\r\n`),
        reject,
      );
    });
    expect(answers).toEqual([false, true]);
  });
});

describe('discarding the rest', () => {
  const rest = async (send: (socket: Socket) => void, maxBytes: number, maxMs: number): Promise<number> => {
    const started = performance.now();
    return new Promise((resolve, reject) => {
      open(async (request) => {
        await discardRest(request, maxBytes, maxMs);
        resolve(performance.now() - started);
      }).then(send, reject);
    });
  };

  test('A25: ends with the request', async () => {
    const body = 'x'.repeat(1_000_000);
    expect(
      await rest((socket) => socket.write(`${POST}Content-Length: 1000000\r\n\r\n${body}`), 2_000_000, 10_000),
    ).toBeLessThan(5_000);
  });

  test('A25: ends after so many bytes, after so much time, and when the sender is gone', async () => {
    const endless = (socket: Socket): void => {
      socket.on('error', () => undefined);
      socket.write(`${POST}Content-Length: 99999999\r\n\r\n${'x'.repeat(300_000)}`);
    };
    expect(await rest(endless, 100_000, 20_000)).toBeLessThan(5_000);
    expect(await rest((socket) => socket.write(`${POST}Content-Length: 5\r\n\r\n`), 100, 200)).toBeGreaterThan(190);
    expect(
      await rest((socket) => socket.write(`${POST}Content-Length: 5\r\n\r\n`, () => socket.destroy()), 100, 20_000),
    ).toBeLessThan(5_000);
  });
});
