import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AtEnd } from './atEnd.ts';

/** What somebody asked a decoy. */
export interface DecoyRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** A server that answers every question as a ready pack service would, and remembers it. */
export interface Decoy {
  readonly port: number;
  readonly requests: readonly DecoyRequest[];
}

export async function openDecoy(atEnd: AtEnd): Promise<Decoy> {
  const requests: DecoyRequest[] = [];
  const server = createServer((req, res) => {
    requests.push({ path: req.url ?? '', headers: req.headers });
    req.resume();
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ready"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests };
}

/** A port on which nobody listens: it was somebody's a moment ago. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
