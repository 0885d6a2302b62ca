import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { openListener } from '../../listener.ts';
import type { InspectedChildren } from './children.ts';
import { Passage } from './passage.ts';

/** A pack that can be debugged. */
export interface Debugged {
  readonly tenantId: string;
  readonly name: string;
  readonly path: string;
}

/** How long a debugger waits for the next process of its pack. */
const NEXT_CHILD_MS = 10_000;

/**
 * One address for the debuggers of all packs that outlives their processes. Whoever can connect to it can run anything
 * as the author: it is on loopback, the ids in its WebSocket addresses are random, and a page in a browser, which can
 * reach loopback as well, is refused by its Host (another name that leads here) and by its Origin.
 */
export class Inspector {
  readonly #children: InspectedChildren;
  readonly #passage: Passage;
  readonly #server: Server;
  /** By id: what is debugged under it. */
  readonly #targets = new Map<string, Debugged>();
  readonly #sockets = new Set<Duplex>();
  #authority = '';

  private constructor(children: InspectedChildren, passage: Passage) {
    this.#children = children;
    this.#passage = passage;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('clientError', (_, socket) => socket.destroy());
  }

  /** Rejects with the system's error when the port cannot be had. */
  static async open(children: InspectedChildren, port: number): Promise<Inspector> {
    const inspector = new Inspector(children, await Passage.open());
    const address = await openListener(inspector.#server, { kind: 'tcp', host: '127.0.0.1', port });
    inspector.#authority = new URL(address).host;
    return inspector;
  }

  /** `127.0.0.1:9229` */
  get authority(): string {
    return this.#authority;
  }

  /** From now on it can be debugged. Returns its address, which stays the same. */
  add(pack: Debugged): string {
    const known = [...this.#targets].find(([, { tenantId }]) => tenantId === pack.tenantId)?.[0];
    const id = known ?? randomUUID();
    this.#targets.set(id, pack);
    return this.#addressOf(id);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocal(request) || hasBody(request)) return end(response, 403);
    if (request.method !== 'GET') return end(response, 405);
    switch (request.url ?? '') {
      case '/json':
      case '/json/list':
        return end(
          response,
          200,
          [...this.#targets].map(([id, pack]) => this.#describe(id, pack)),
        );
      case '/json/version':
        return end(response, 200, { Browser: `node.js/${process.version}`, 'Protocol-Version': '1.1' });
      case '/json/protocol':
        return this.#passOn(request, response);
      default:
        return end(response, 404);
    }
  }

  /** The protocol is Node's, the same in every process. */
  async #passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [first] = this.#targets.values();
    const place = first && (await this.#children.placeOf(first.tenantId, NEXT_CHILD_MS));
    if (place === undefined) end(response, 404);
    else this.#passage.get(request, response, place);
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const pack = this.#targets.get((request.url ?? '').slice(1));
    if (!isLocal(request) || hasBody(request)) return refuse(socket, 403);
    if (pack === undefined) return refuse(socket, 404);
    const { tenantId } = pack;
    const place = await this.#children.placeOf(tenantId, NEXT_CHILD_MS);
    if (socket.destroyed) return;
    if (place === undefined) return refuse(socket, 404);
    this.#passage.upgrade(request, socket, head, place, () => this.#children.attach(tenantId, place, socket));
  }

  #addressOf(id: string): string {
    return `ws://${this.#authority}/${id}`;
  }

  /** As Node describes a target of its own. */
  #describe(id: string, { name, path }: Debugged): Readonly<Record<string, string>> {
    const address = `${this.#authority}/${id}`;
    return {
      id,
      type: 'node',
      title: name,
      description: `the pack ${name}`,
      url: pathToFileURL(path).href,
      webSocketDebuggerUrl: this.#addressOf(id),
      devtoolsFrontendUrl: `devtools://devtools/bundled/js_app.html?experiments=true&v8only=true&ws=${address}`,
      faviconUrl: 'https://nodejs.org/static/images/favicons/favicon.ico',
    };
  }
}

/** From a program on this machine that means us: not from a page that was brought here under another name. */
function isLocal({ headers }: IncomingMessage): boolean {
  const isHere = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(headers.host ?? '');
  return isHere && !/^https?:|^null$/.test(headers.origin ?? '');
}

/** Nothing that is asked here has one; what is behind it could be taken for another request. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function end(response: ServerResponse, status: number, data?: unknown): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json; charset=UTF-8');
  response.end(data === undefined ? '' : JSON.stringify(data, undefined, 2));
}

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
