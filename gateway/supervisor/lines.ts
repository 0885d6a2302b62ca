/** Longest line that is kept whole, in bytes; a listening line is a few hundred. */
export const MAX_LINE_BYTES = 64 * 1024;

/** Pieces of one line that are kept apart. */
const MAX_PIECES = 256;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** A line without its end. `cutBytes`: how many bytes of it are missing because it was too long, usually 0. */
export type OnLine = (line: Buffer, cutBytes: number) => void;

/** Says which lines are worth cutting out: cutting costs some twenty times what counting does. */
export interface LineFilter {
  /** Asked for lines that lie whole in one chunk, by their first byte; the others are always cut out. */
  isWanted(firstByte: number): boolean;
  /** So many lines of a chunk were only counted; empty ones are not. */
  onSkipped(lines: number): void;
}

/**
 * Cuts a stream of bytes into lines, without looking at what they say: many are only counted. Holds at most one line of
 * 64 KiB however the bytes come.
 */
export class LineSplitter {
  readonly #onLine: OnLine;
  readonly #filter: LineFilter | undefined;
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  #cutBytes = 0;

  constructor(onLine: OnLine, filter?: LineFilter) {
    this.#onLine = onLine;
    this.#filter = filter;
  }

  push(chunk: Buffer): void {
    const filter = this.#filter;
    let from = 0;
    let skipped = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      const isWhole = this.#heldBytes === 0 && this.#cutBytes === 0;
      if (isWhole && filter !== undefined && !filter.isWanted(chunk[from] ?? LINE_FEED)) {
        if (end > from) skipped += 1;
      } else {
        this.#hold(chunk.subarray(from, end));
        this.#emit();
      }
      from = end + 1;
    }
    if (skipped > 0) filter?.onSkipped(skipped);
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
    // A line that comes byte by byte must not cost a hundred times its length.
    if (this.#pieces.length >= MAX_PIECES) this.#pieces = [Buffer.concat(this.#pieces)];
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
