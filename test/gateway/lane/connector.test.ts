import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { Pool } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createConnector } from '../../../gateway/lane/connector.ts';

/** A server that sends these bytes to whoever asks, and closes the connection. */
async function closingServer(bytes: Buffer): Promise<string> {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Asks, holds the answer back at its first piece until long after the close, and returns what came in the end. */
function heldBackAnswer(origin: string): Promise<string> {
  const pool = new Pool(origin, { connect: createConnector(5_000) });
  onTestFinished(() => pool.destroy());
  return new Promise((resolve) => {
    let bytes = 0;
    pool.dispatch(
      { method: 'GET', path: '/', reset: true },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (controller, chunk) => {
          bytes += chunk.length;
          controller.pause();
          setTimeout(() => controller.resume(), 100);
        },
        onResponseEnd: () => resolve(`ended after ${bytes} bytes`),
        onResponseError: (_, error) => resolve(`failed after ${bytes} bytes: ${error.message}`),
      },
    );
  });
}

describe('an answer that is held back while its service closes the connection', () => {
  const body = Buffer.alloc(16 * 1024, 'a');

  for (const [framing, head, rest] of [
    ['a length', `Content-Length: ${body.length}\r\n`, ''],
    ['chunks', 'Transfer-Encoding: chunked\r\n', undefined],
    ['nothing but the close', '', ''],
  ] as const) {
    it(`framed by ${framing}, ends whole and does not end the process`, async () => {
      const start = `HTTP/1.1 200 OK\r\n${head}Connection: close\r\n\r\n`;
      const framed = rest === undefined ? [`${body.length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n'] : [body, rest];
      const origin = await closingServer(Buffer.concat([start, ...framed].map((part) => Buffer.from(part))));
      for (let round = 0; round < 5; round += 1) {
        expect(await heldBackAnswer(origin)).toBe(`ended after ${body.length} bytes`);
      }
    });
  }

  it('that is cut short by the close is an error', async () => {
    const origin = await closingServer(
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length + 5}\r\nConnection: close\r\n\r\n`),
        body,
      ]),
    );
    expect(await heldBackAnswer(origin)).toMatch(/^failed after 16384 bytes/);
  });
});
