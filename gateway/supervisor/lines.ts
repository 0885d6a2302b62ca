/** Longest line that is kept whole, in bytes; a listening line is a few hundred. */
const MAX_LINE_BYTES = 64 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** A line without its end. `cutBytes`: how many bytes of it are missing because it was too long, usually 0. */
export type OnLine = (line: Buffer, cutBytes: number) => void;

/**
 * Cuts a stream of bytes into lines, without looking at what they say: many are only counted. Holds at most one line of
 * 64 KiB however the bytes come.
 */
export class LineSplitter {
  readonly #onLine: OnLine;
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  #cutBytes = 0;

  constructor(onLine: OnLine) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      this.#hold(chunk.subarray(from, end));
      this.#emit();
      from = end + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
  }

  /** The stream has ended: what is left is a line, too. */
  end(): void {
    if (this.#heldBytes > 0 || this.#cutBytes > 0) this.#emit();
  }

  #hold(piece: Buffer): void {
    const room = MAX_LINE_BYTES - this.#heldBytes;
    const kept = piece.length <= room ? piece : piece.subarray(0, room);
    if (kept.length > 0) this.#pieces.push(kept);
    this.#heldBytes += kept.length;
    this.#cutBytes += piece.length - kept.length;
  }

  #emit(): void {
    const [first] = this.#pieces;
    const bytes = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces);
    const cutBytes = this.#cutBytes;
    this.#pieces = [];
    this.#heldBytes = 0;
    this.#cutBytes = 0;
    const length = bytes.at(-1) === CARRIAGE_RETURN && cutBytes === 0 ? bytes.length - 1 : bytes.length;
    this.#onLine(bytes.subarray(0, length), cutBytes);
  }
}
