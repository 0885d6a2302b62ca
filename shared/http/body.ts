import type { IncomingMessage } from 'node:http';

/** What became of a request's body. `cut`: the other side closed before its end. */
export type Body =
  { readonly kind: 'whole'; readonly bytes: Buffer } | { readonly kind: 'too-large' } | { readonly kind: 'cut' };

/** Whether the request announces more than `maxBytes`: it can be refused before a byte is read. */
export function announcesMoreThan(request: IncomingMessage, maxBytes: number): boolean {
  const length = request.headers['content-length'];
  return length !== undefined && Number(length) > maxBytes;
}

/**
 * Reads a body of at most `maxBytes`, counted after removing chunked framing (A24). Never holds more than that: on
 * `too-large` the rest of the request is unread, see `discardRest`. Never rejects. `onStart` gets a function that gives
 * up: the body is `cut` then, and the rest unread.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  onStart?: (giveUp: () => void) => void,
): Promise<Body> {
  return new Promise((resolve) => {
    const collected = new Collector(maxBytes);
    const finish = (body: Body): void => {
      request.off('data', onData).off('end', onEnd).off('close', onCut).off('error', onCut);
      // A later error of a broken connection is nobody's business any more, but unheard it would end the process.
      request.on('error', () => undefined);
      resolve(body);
    };
    const onData = (chunk: Buffer): void => {
      if (collected.length + chunk.length > maxBytes) {
        request.pause();
        finish({ kind: 'too-large' });
      } else {
        collected.add(chunk);
      }
    };
    const onEnd = (): void => finish({ kind: 'whole', bytes: collected.bytes() });
    const onCut = (): void => finish({ kind: 'cut' });
    if (request.destroyed && !request.readableEnded) return finish({ kind: 'cut' });
    request.on('data', onData).on('end', onEnd).on('close', onCut).on('error', onCut);
    onStart?.(() => {
      request.pause();
      finish({ kind: 'cut' });
    });
  });
}

/**
 * Reads and forgets what is left of a request that was already answered, so that a fast sender can read its answer
 * before the connection is closed (closing with unread bytes resets it). Ends at the request's end, after `maxBytes`
 * or after `maxMs`, whichever is first. Never rejects.
 */
export function discardRest(request: IncomingMessage, maxBytes = 64 * 1024 * 1024, maxMs = 10_000): Promise<void> {
  return new Promise((resolve) => {
    if (request.readableEnded || request.destroyed) return resolve();
    let left = maxBytes;
    const finish = (): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', finish).off('close', finish).pause();
      resolve();
    };
    const onData = (chunk: Buffer): void => {
      left -= chunk.length;
      if (left < 0) finish();
    };
    const timer = setTimeout(finish, maxMs);
    request.on('error', () => undefined);
    request.on('data', onData).on('end', finish).on('close', finish).resume();
  });
}

/**
 * Joins chunks. One chunk is kept as it is, the usual case; more are copied into a growing buffer at once, because ten
 * million one-byte chunks in a list would take a gigabyte.
 */
class Collector {
  readonly #maxBytes: number;
  length = 0;
  #first: Buffer | undefined;
  #room: Buffer | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Buffer): void {
    if (this.#first === undefined) {
      this.#first = chunk;
    } else {
      this.#room = this.#withRoomFor(chunk.length);
      chunk.copy(this.#room, this.length);
    }
    this.length += chunk.length;
  }

  bytes(): Buffer {
    return this.#room?.subarray(0, this.length) ?? this.#first ?? Buffer.alloc(0);
  }

  #withRoomFor(more: number): Buffer {
    const needed = this.length + more;
    if (this.#room !== undefined && this.#room.length >= needed) return this.#room;
    const larger = Buffer.allocUnsafe(Math.min(this.#maxBytes, Math.max(16 * 1024, needed * 2)));
    this.bytes().copy(larger);
    return larger;
  }
}
