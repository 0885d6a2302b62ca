import { Agent } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import util from 'node:util';
import type HttpProxy from 'http-proxy';
import type { InspectorPlace } from './children.ts';

/** What an inspector needs of a request for a WebSocket. `connection` and `upgrade` are written anew. */
const PASSED = [
  'host',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
];

/** A handshake on loopback that takes longer will not come. */
const HANDSHAKE_MS = 5_000;

/**
 * Passes debugger connections on to a process. The only place that knows http-proxy, which is not to be let near a
 * pack's call: bare, it forwards hop-by-hop headers, turns the body of a chunked request into a second request, and
 * leaves one side running when the other has gone. So only requests without a body get here, with headers that are
 * written anew, and both sockets are watched by us.
 */
export class Passage {
  readonly #proxy: HttpProxy;
  readonly #agent = new Agent({ keepAlive: false });

  private constructor(proxy: HttpProxy) {
    this.#proxy = proxy;
  }

  static async open(): Promise<Passage> {
    // It takes the deprecated function when it is loaded, and Node 22 says so to everybody who looks at the terminal.
    if ('_extend' in util) Object.assign(util, { _extend: Object.assign });
    const { default: httpProxy } = await import('http-proxy');
    return new Passage(httpProxy.createProxyServer({ xfwd: false, ws: false, followRedirects: false }));
  }

  /** Connects both ends of a WebSocket; `onOpen` when they are. Both are closed when either is, and on any error. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, place: InspectorPlace, onOpen: () => void): void {
    const close = (): void => void socket.destroy();
    socket.on('error', close);
    request.url = place.path;
    request.headers = { ...only(request, PASSED), connection: 'Upgrade', upgrade: 'websocket' };
    const onRequest = (proxyRequest: Parameters<HttpProxy.ProxyReqWsCallback>[0], of: IncomingMessage): void => {
      if (of !== request) return;
      this.#proxy.off('proxyReqWs', onRequest);
      const timer = setTimeout(() => proxyRequest.destroy(), HANDSHAKE_MS);
      // An answer that is no upgrade: whatever it says, it is nothing that a debugger could use.
      proxyRequest.prependListener('response', () => proxyRequest.destroy());
      proxyRequest.once('close', () => clearTimeout(timer));
      proxyRequest.once('upgrade', (_, other: Duplex) => {
        clearTimeout(timer);
        other.on('error', close).once('close', close);
        socket.once('close', () => other.destroy());
        if (socket.destroyed) other.destroy();
        else onOpen();
      });
      socket.once('close', () => proxyRequest.destroy());
    };
    this.#proxy.on('proxyReqWs', onRequest);
    this.#proxy.ws(request, socket, head, { target: targetOf(place), agent: this.#agent }, close);
  }

  /** Answers a GET with what the process answers on the same path. */
  get(request: IncomingMessage, response: ServerResponse, place: InspectorPlace): void {
    request.headers = { ...only(request, ['host', 'accept']), connection: 'close' };
    const fail = (): void => void response.destroy();
    response.once('error', fail);
    this.#proxy.web(
      request,
      response,
      { target: targetOf(place), agent: this.#agent, proxyTimeout: HANDSHAKE_MS },
      fail,
    );
  }
}

/** As an object: a URL in words would be read again, by other rules. */
function targetOf({ port }: InspectorPlace): { protocol: string; host: string; port: number } {
  return { protocol: 'http:', host: '127.0.0.1', port };
}

function only({ headers }: IncomingMessage, names: readonly string[]): IncomingMessage['headers'] {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}
