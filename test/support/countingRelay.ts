import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { AtEnd } from './atEnd.ts';

/** A TCP relay in front of a gateway that counts what goes over the wire. */
export interface CountingRelay {
  readonly address: string;
  /** Request lines seen, retries of the client's library included. */
  readonly requests: () => number;
}

const REQUEST_LINE = /^(?:GET|POST|HEAD|PUT) \S+ HTTP\/1\.1\r$/gm;

export async function startCountingRelay(port: number, atEnd: AtEnd = onTestFinished): Promise<CountingRelay> {
  const sent: Buffer[][] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ port, host: '127.0.0.1' });
    const chunks: Buffer[] = [];
    sent.push(chunks);
    client.on('data', (chunk) => chunks.push(chunk));
    client.pipe(upstream).pipe(client);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => other.destroySoon());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.close();
    sockets.forEach((socket) => socket.destroy());
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () =>
      sent.reduce(
        (sum, chunks) => sum + (Buffer.concat(chunks).toString('latin1').match(REQUEST_LINE)?.length ?? 0),
        0,
      ),
  };
}
