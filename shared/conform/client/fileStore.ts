import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it came, with every header as it was written. */
export interface FileStoreRequest {
  readonly method: string;
  /** The request target exactly as sent. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

export interface FileStoreAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A runtime's place for tool files: writes down what it is sent and answers what it is told to. */
export class FileStore {
  readonly requests: FileStoreRequest[] = [];
  /** Requests whose sender went away before it had an answer. */
  abandoned = 0;
  readonly #server: Server;
  #answer: FileStoreAnswer | 'nothing' = { status: 500 };
  readonly #waiters = new Set<() => void>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => void this.#take(request, response));
  }

  static async open(): Promise<FileStore> {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return new FileStore(server);
  }

  /** Where files are stored. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/tool-files`;
  }

  /** What every further request is answered with; `nothing` leaves it without an answer. */
  answerWith(answer: FileStoreAnswer | 'nothing'): void {
    this.#answer = answer;
  }

  /** As JSON, with status 200. */
  answerJson(value: unknown): void {
    this.#answer = { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
  }

  /** The only request so far, and forgets it. */
  only(): FileStoreRequest {
    const [request, ...more] = this.requests.splice(0);
    assert.ok(request, 'no request was sent');
    assert.equal(more.length, 0, 'more than one request was sent');
    return request;
  }

  /** Resolves when the condition holds, looked at whenever something happens here. */
  async until(what: string, isIt: () => boolean, withinMs = 10_000): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const settle = (action: () => void): void => {
        clearTimeout(timer);
        this.#waiters.delete(look);
        action();
      };
      const look = (): void => {
        if (isIt()) settle(resolve);
      };
      const timer = setTimeout(() => {
        settle(() => reject(new assert.AssertionError({ message: `not within ${withinMs} ms: ${what}` })));
      }, withinMs);
      this.#waiters.add(look);
      look();
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  // Private

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('close', () => {
      if (!response.writableFinished) this.abandoned += 1;
      this.#wake();
    });
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const { method = '', url: target = '', rawHeaders } = request;
    const headers = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as const] : []));
    this.requests.push({ method, target, headers, body: Buffer.concat(chunks) });
    this.#wake();
    if (this.#answer === 'nothing') return;
    const { status, headers: answerHeaders = {}, body = '' } = this.#answer;
    response.writeHead(status, { ...answerHeaders, 'content-length': Buffer.byteLength(body) });
    response.end(body);
  }

  #wake(): void {
    for (const look of this.#waiters) look();
  }
}
