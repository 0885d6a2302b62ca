import { write } from 'node:fs';

/** Lines are written together, at the latest after this time: one write a line cost a fifth of a warm call's CPU. */
const WRITE_EVERY_MS = 50;
const WRITE_FROM_BYTES = 8 * 1024;

/** A full pipe does not block (Node has opened it so), it says EAGAIN and is tried again after this time. */
const RETRY_MS = 20;

/**
 * Writes lines to a descriptor, together and in order, without ever blocking. Holds what is not written yet without a
 * limit of its own: whoever writes looks at `heldBytes` first.
 */
export class LineWriter {
  readonly #fd: number;
  /** Something has been written: there is room. */
  readonly #onWritten: () => void;
  #lines: string[] = [];
  #isWriting = false;
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Its reader has gone: there is nobody to tell, and no reason to die. */
  #isBroken = false;
  #onEmpty: (() => void) | undefined;

  constructor(fd: number, onWritten: () => void) {
    this.#fd = fd;
    this.#onWritten = onWritten;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** `bytes`: the line's length, its line end included. */
  write(line: string, bytes: number): void {
    if (this.#isBroken) return;
    this.#lines.push(line);
    this.#heldBytes += bytes;
    if (this.#heldBytes >= WRITE_FROM_BYTES) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), WRITE_EVERY_MS);
  }

  /** Writes what is held; settles when that is done, when it cannot be, or when the time is up. */
  close(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const patience = setTimeout(resolve, withinMs);
      this.#onEmpty = () => {
        clearTimeout(patience);
        resolve();
      };
      this.#start();
    });
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isWriting) return;
    if (this.#lines.length === 0) {
      this.#onEmpty?.();
      return;
    }
    const bytes = Buffer.from(this.#lines.join(''));
    this.#lines = [];
    this.#isWriting = true;
    this.#step(bytes);
  }

  #step(bytes: Buffer): void {
    write(this.#fd, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') setTimeout(() => this.#step(bytes), RETRY_MS);
      else if (error !== null) this.#break();
      else this.#wrote(bytes, written);
    });
  }

  #wrote(bytes: Buffer, written: number): void {
    this.#heldBytes -= written;
    if (written < bytes.length) this.#step(bytes.subarray(written));
    else {
      this.#isWriting = false;
      this.#start();
    }
    // Last: it may write, and finds everything in order.
    this.#onWritten();
  }

  #break(): void {
    this.#isBroken = true;
    this.#lines = [];
    this.#heldBytes = 0;
    this.#onEmpty?.();
  }
}
