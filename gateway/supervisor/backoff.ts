export interface BackoffSettings {
  readonly minMs: number;
  readonly maxMs: number;
  /** Failures are forgotten after that long ready. */
  readonly healthyMs: number;
}

/**
 * How long to wait before the next start. Doubles with every failure in a row and is jittered by ±20 %, so that packs
 * which failed together do not start together for ever. Becoming ready forgives nothing by itself: a pack that listens
 * and dies each time must not loop without a delay.
 */
export class Backoff {
  #settings: BackoffSettings;
  readonly #random: () => number;
  #failures = 0;

  constructor(settings: BackoffSettings, random: () => number = Math.random) {
    this.#settings = settings;
    this.#random = random;
  }

  update(settings: BackoffSettings): void {
    this.#settings = settings;
  }

  get failures(): number {
    return this.#failures;
  }

  /** A start failed. Returns the delay in milliseconds. */
  startFailed(): number {
    this.#failures += 1;
    return this.#delay();
  }

  /** An instance that had been ready ended by itself. The first failure in a row costs no delay. */
  crashed(): number {
    this.#failures += 1;
    return this.#failures === 1 ? 0 : this.#delay();
  }

  /** An instance was ready for that long, however it ended: enough of it forgives what was before. */
  wasReady(readyMs: number): void {
    if (readyMs >= this.#settings.healthyMs) this.#failures = 0;
  }

  #delay(): number {
    const { minMs, maxMs } = this.#settings;
    const grown = Math.min(maxMs, minMs * 2 ** Math.min(this.#failures - 1, 30));
    return Math.round(Math.min(maxMs, grown * (0.8 + 0.4 * this.#random())));
  }
}
