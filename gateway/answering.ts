import type { ServerResponse } from 'node:http';

/** Answers that a listener still owes. */
export class Answering {
  readonly #responses = new Set<ServerResponse>();
  #whenNone: (() => void) | undefined;

  add(response: ServerResponse): void {
    this.#responses.add(response);
    response.once('close', () => {
      this.#responses.delete(response);
      if (this.#responses.size === 0) this.#whenNone?.();
    });
  }

  /** Settles when the last one has reached its caller or lost it, and after `patienceMs` in any case. */
  async over(patienceMs: number): Promise<void> {
    if (this.#responses.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, patienceMs);
      this.#whenNone = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
