import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { parseResponse } from './response.ts';
import type { RawResponse } from './response.ts';

/** Longest wait for an answer or an end, in milliseconds, where a clause names no other. */
const PATIENCE_MS = 15_000;

/** More than any answer a clause asks for: who sends more, without end, must not fill the memory. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/**
 * One TCP connection that sends exactly the bytes it is given: an HTTP library hides what is being measured. Never
 * repeats anything and never throws on its own; what went wrong shows in the next `read`.
 */
export class RawConnection {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isEnded = false;
  #error: Error | undefined;
  #sentAt = performance.now();
  readonly #waiters = new Set<() => void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      if (this.#received.length > MAX_UNREAD_BYTES) socket.destroy(new Error('it sends without end'));
      this.#wake();
    });
    socket.on('error', (error) => {
      this.#error = error;
    });
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.#isEnded = true;
        this.#wake();
      });
    }
  }

  static async open(at: { readonly host: string; readonly port: number }): Promise<RawConnection> {
    const socket = connect({ host: at.host, port: at.port, noDelay: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RawConnection(socket);
  }

  send(bytes: string | Buffer): void {
    this.#sentAt = performance.now();
    // After the other side closed, the write fails; the reader finds out what came before that.
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  /** The next answer on this connection; interim ones (1xx) count. Fails the clause when none comes in time. */
  async read(options: { isHead?: boolean; withinMs?: number } = {}): Promise<RawResponse> {
    const withinMs = options.withinMs ?? PATIENCE_MS;
    const parsed = await this.#until(() => {
      const found = parseResponse(this.#received, options.isHead ?? false, this.#isEnded);
      if (found === undefined) assert.ok(!this.#isEnded, `the connection ended without an answer${this.#why()}`);
      return found;
    }, withinMs);
    assert.ok(parsed, `no answer within ${withinMs} ms`);
    this.#received = this.#received.subarray(parsed.used);
    return { ...parsed.response, tookMs: performance.now() - this.#sentAt };
  }

  /** Resolves when the other side has closed; fails the clause when it has not in time. */
  async closed(withinMs = PATIENCE_MS): Promise<void> {
    const isClosed = await this.#until(() => (this.#isEnded ? true : undefined), withinMs);
    assert.ok(isClosed, `the connection is still open after ${withinMs} ms`);
  }

  /** Bytes that belong to no answer read so far. */
  get unread(): number {
    return this.#received.length;
  }

  get isOpen(): boolean {
    return !this.#isEnded;
  }

  /** Half-closes: nothing more will be sent, answers can still be read. */
  end(): void {
    this.#socket.end();
  }

  close(): void {
    this.#socket.destroy();
  }

  // Private

  /** What `probe` finds as soon as it finds something, or undefined after `withinMs`. */
  #until<T>(probe: () => T | undefined, withinMs: number): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const settle = (action: () => void): void => {
        clearTimeout(timer);
        this.#waiters.delete(look);
        action();
      };
      const look = (): void => {
        try {
          const found = probe();
          if (found !== undefined) settle(() => resolve(found));
        } catch (error) {
          settle(() => reject(error as Error));
        }
      };
      const timer = setTimeout(() => settle(() => resolve(undefined)), withinMs);
      this.#waiters.add(look);
      look();
    });
  }

  #wake(): void {
    for (const look of this.#waiters) look();
  }

  #why(): string {
    return this.#error === undefined ? '' : ` (${this.#error.message})`;
  }
}
