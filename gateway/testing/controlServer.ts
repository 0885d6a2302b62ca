import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Briefing, FakeCall, FakeReply } from './script.ts';

export interface ControlEvents {
  onStart(pid: number): Briefing;
  /** What it throws, the test has got wrong: the call is answered 500, and the text of it is in the answer. */
  onCall(call: FakeCall): Promise<FakeReply>;
}

/** The test's side of a fake pack service: its processes ask here what they are to do. */
export class ControlServer {
  readonly #server = createServer((request, response) => void this.#take(request, response));
  readonly #events: ControlEvents;

  constructor(events: ControlEvents) {
    this.#events = events;
  }

  async open(socketPath: string): Promise<void> {
    this.#server.listen(socketPath);
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const question = JSON.parse(Buffer.concat(chunks).toString()) as unknown;
      const answer =
        request.url === '/start'
          ? this.#events.onStart((question as { pid: number }).pid)
          : await this.#events.onCall(question as FakeCall);
      response.end(JSON.stringify(answer));
    } catch (error) {
      response.statusCode = 500;
      response.end(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
  }
}
