import { setMaxListeners } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { ListenAddress } from '../config/configuration.ts';
import { refuseRaw } from '../front/refuse.ts';
import { Answering } from '../answering.ts';
import { openListener } from '../listener.ts';
import { adminApp } from './app.ts';
import type { AdminHost } from './host.ts';

const MAX_HEADER_BYTES = 16 * 1024;

/** How long a request may take to arrive. Looked at every second; Node's own default is half a minute. */
const REQUEST_MS = 10_000;
const LOOK_EVERY_MS = 1_000;

/** Connections at once: operators and their tools, not callers. */
const MAX_CONNECTIONS = 256;

/** How long answers that are being sent may take when the listener closes. */
const LAST_ANSWERS_MS = 1_000;

export interface AdminServerOptions {
  readonly host: AdminHost;
  readonly log: Logger;
  /** Lower-case hex of SHA-256 over the token that is asked for. May be undefined on a Unix socket only. */
  readonly tokenSha256?: string | undefined;
}

/** The listener for operators: an address of its own, a token of its own, nothing of it on the public listener. */
export class AdminServer {
  readonly #options: AdminServerOptions;
  readonly #server: Server;
  readonly #closing = new AbortController();
  readonly #answering = new Answering();

  constructor(options: AdminServerOptions) {
    this.#options = options;
    // Everybody who waits for an order listens to it.
    setMaxListeners(0, this.#closing.signal);
    this.#server = createServer({
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: REQUEST_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: LOOK_EVERY_MS,
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on('clientError', refuseRaw);
    this.#server.on('request', (_request, response: ServerResponse) => this.#answering.add(response));
  }

  /**
   * Opens the listener: a Unix socket for this user alone (mode 0600), or TCP with a token. Returns where it is reached,
   * `unix:PATH` or `http://HOST:PORT`. Rejects with what keeps it from listening.
   */
  async open(listen: ListenAddress): Promise<string> {
    const { host, log, tokenSha256 } = this.#options;
    const address = await openListener(this.#server, listen, { isPrivate: true });
    // A socket that was handed over is known only now.
    const isTcp = typeof this.#server.address() === 'object' && this.#server.address() !== null;
    if (isTcp && tokenSha256 === undefined) {
      await this.close();
      throw new Error('the admin listener is on TCP and has no token: set admin.token, or listen on a Unix socket');
    }
    const via = isTcp ? 'tcp' : 'unix';
    const hostName = listen.kind === 'tcp' ? listen.host : undefined;
    this.#server.on(
      'request',
      adminApp({ host, log, via, closing: this.#closing.signal }, { tokenSha256, via, hostName }),
    );
    return address;
  }

  /**
   * Answers those who wait for an order (which goes on), gives the last answers a moment to arrive, and closes every
   * connection. Called last when the gateway stops: operators can look at the drain.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    await this.#answering.over(LAST_ANSWERS_MS);
    this.#server.closeAllConnections();
    await closed;
  }
}
