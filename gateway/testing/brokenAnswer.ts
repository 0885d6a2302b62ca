/** The connection ended before the answer did: whether the call ran, nobody knows (G6). */
export class BrokenAnswer extends Error {
  /** Of the answer that had begun; undefined: not one byte of one had come. */
  readonly status: number | undefined;
  /** What had come of its body. */
  readonly text: string;

  constructor(status: number | undefined, text: string, cause: Error) {
    super(status === undefined ? `no answer: ${cause.message}` : `status ${status}, then: ${cause.message}`, { cause });
    this.name = 'BrokenAnswer';
    this.status = status;
    this.text = text;
  }
}
