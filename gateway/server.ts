import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../shared/http/refusal.ts';
import { Answering } from './answering.ts';
import type { ListenAddress } from './config/configuration.ts';
import { handleCall } from './front/call.ts';
import type { Front } from './front/call.ts';
import { refuse, refuseRaw } from './front/refuse.ts';
import { openListener } from './listener.ts';

/** A header block over this is 431 (A31). */
const MAX_HEADER_BYTES = 16 * 1024;

/** Longer than the callers' own limits, so that it is they who close an idle connection and never send into a closing one. */
const KEEP_ALIVE_MS = 75_000;

/** How long answers that are complete here may take to reach their callers when the gateway stops. */
const LAST_ANSWERS_MS = 1_000;

/** The public listener: every request becomes a call, everything else is refused here. */
export class FrontServer {
  readonly #server: Server;
  readonly #answering = new Answering();
  readonly #busy = new WeakMap<Socket, number>();

  constructor(front: Front) {
    this.#server = createServer(
      { maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: KEEP_ALIVE_MS, requireHostHeader: false },
      (request, response) => void this.#take(front, request, response, false),
    );
    this.#server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      void this.#take(front, request, response, true);
    });
    this.#server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      refuse(request, response, new Refusal('expectation-failed'));
    });
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      // An answer is on its way on this connection: other bytes would become part of it.
      if ((this.#busy.get(socket) ?? 0) > 0) socket.destroy();
      else refuseRaw(error, socket);
    });
  }

  /** Opens the listener. Returns where it is reached, as a URL for TCP. Rejects with the system's error. */
  async open(listen: ListenAddress): Promise<string> {
    return openListener(this.#server, listen);
  }

  /**
   * Waits a moment for the last answers to reach their callers, then closes the listener and every connection. Until
   * then a draining gateway goes on listening, so that whoever calls is told to try again instead of being cut off.
   */
  async close(): Promise<void> {
    await this.#answering.over(LAST_ANSWERS_MS);
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #take(
    front: Front,
    request: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
  ): Promise<void> {
    const { socket } = request;
    this.#answering.add(response);
    this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
    response.once('close', () => {
      this.#busy.set(socket, (this.#busy.get(socket) ?? 1) - 1);
    });
    await handleCall(front, request, response, expectsContinue);
  }
}
