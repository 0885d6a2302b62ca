import { Refusal } from '../../shared/http/refusal.ts';

/** Somebody waiting for room. */
interface Request {
  readonly tenantKey: string;
  readonly bytes: number;
  readonly grant: () => void;
}

/**
 * Room for the request bodies that are held in memory. Reserved whole before the first byte is read, so that uploads
 * cannot wait for each other; one tenant has at most a quarter, so it waits for its own bodies and never for another's.
 *
 * Safety: reserved bytes never exceed the budget, nor a tenant's its quarter.
 * Progress: whenever room is given back, everyone who fits is let in, first come first.
 */
export class Room {
  readonly #totalBytes: number;
  readonly #tenantBytes: number;
  #freeBytes: number;
  readonly #used = new Map<string, number>();
  readonly #waiting = new Set<Request>();

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes;
    this.#tenantBytes = Math.floor(totalBytes / 4);
    this.#freeBytes = totalBytes;
  }

  get usedBytes(): number {
    return this.#totalBytes - this.#freeBytes;
  }

  /** Reserves at once, or says that there is no room now. */
  take(tenantKey: string, bytes: number): boolean {
    const used = this.#used.get(tenantKey) ?? 0;
    if (bytes > this.#freeBytes || used + bytes > this.#tenantBytes) return false;
    this.#freeBytes -= bytes;
    this.#used.set(tenantKey, used + bytes);
    return true;
  }

  /** Waits for room. The returned function leaves the line; it must be called when the wait is given up. */
  await(tenantKey: string, bytes: number, granted: () => void): () => void {
    if (bytes > this.#tenantBytes) throw new Refusal('bodies-full');
    const request = { tenantKey, bytes, grant: granted };
    this.#waiting.add(request);
    return () => this.#waiting.delete(request);
  }

  giveBack(tenantKey: string, bytes: number): void {
    this.#freeBytes += bytes;
    const used = (this.#used.get(tenantKey) ?? 0) - bytes;
    if (used > 0) this.#used.set(tenantKey, used);
    else this.#used.delete(tenantKey);
    for (const request of this.#waiting) {
      if (!this.take(request.tenantKey, request.bytes)) continue;
      this.#waiting.delete(request);
      request.grant();
    }
  }
}
