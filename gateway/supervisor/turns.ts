/** Carries out jobs one after the other. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles as the job does. One whose signal is aborted before its turn never starts, and rejects with its reason. */
  take<T>(signal: AbortSignal | undefined, job: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (): void => reject(signal?.reason as Error);
      signal?.addEventListener('abort', leave);
      this.#last = this.#last.then(async () => {
        signal?.removeEventListener('abort', leave);
        if (signal?.aborted === true) leave();
        else await job().then(resolve, reject);
      });
    });
  }

  /** Settles when there is no job left. */
  async finished(): Promise<void> {
    for (let last; last !== this.#last; await last) last = this.#last;
  }
}
