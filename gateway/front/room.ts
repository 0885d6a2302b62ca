import { Refusal } from '../../shared/http/refusal.ts';

/**
 * Every tenant's own room, beside the budget: a call as runtimes send them, a few KiB, finds room whatever others hold.
 * Nobody pays for it who does not use it.
 */
const OWN_BYTES = 64 * 1024;

/** Somebody waiting for room. */
interface Request {
  readonly tenantKey: string;
  readonly bytes: number;
  readonly grant: () => void;
}

/**
 * Room for the request bodies that are held in memory. Reserved whole before the first byte is read, so that uploads
 * cannot wait for each other. A tenant's first 64 KiB are its own; what it holds beyond is taken from a budget that all
 * share, at most a quarter of it by one tenant: so it waits for its own bodies before it waits for another's.
 *
 * Safety: what is taken from the budget never exceeds it, nor a tenant's part its quarter.
 * Progress: whenever room is given back, those who fit are let in, first come first; whoever waits for nothing but the
 * budget is not overtaken by anybody who needs some of it, and nobody is overtaken by its own tenant's later bodies.
 */
export class Room {
  readonly #totalBytes: number;
  readonly #tenantBytes: number;
  readonly #ownBytes: number;
  #freeBytes: number;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Request>();

  constructor(totalBytes: number, ownBytes = OWN_BYTES) {
    this.#totalBytes = totalBytes;
    this.#ownBytes = ownBytes;
    this.#tenantBytes = Math.floor(totalBytes / 4);
    this.#freeBytes = totalBytes;
  }

  /** What is taken from the budget. */
  get usedBytes(): number {
    return this.#totalBytes - this.#freeBytes;
  }

  /** Reserves at once, or says that there is no room now. */
  take(tenantKey: string, bytes: number): boolean {
    const shared = this.#sharedFor(tenantKey, bytes);
    if (shared > 0 && this.#waiting.size > 0 && (this.#hasWaiting(tenantKey) || this.#isBudgetAwaited())) return false;
    return this.#fitsPart(tenantKey, bytes) && this.#tryTake(tenantKey, bytes);
  }

  /**
   * Waits for room. The returned function leaves the line; it must be called when the wait is given up.
   * @throws {Refusal} `bodies-full` when there could never be room for so much.
   */
  await(tenantKey: string, bytes: number, granted: () => void): () => void {
    if (bytes > this.#tenantBytes) throw new Refusal('bodies-full');
    const request = { tenantKey, bytes, grant: granted };
    this.#waiting.add(request);
    return () => {
      if (this.#waiting.delete(request)) this.#admit();
    };
  }

  giveBack(tenantKey: string, bytes: number): void {
    const shared = this.#shared(tenantKey);
    const held = this.#heldBy(tenantKey) - bytes;
    if (held > 0) this.#held.set(tenantKey, held);
    else this.#held.delete(tenantKey);
    this.#freeBytes += shared - this.#shared(tenantKey);
    this.#admit();
  }

  /** Whether somebody waits who could come in if this tenant gave something back. */
  isWanted(tenantKey: string): boolean {
    if (this.#waiting.size === 0) return false;
    return this.#hasWaiting(tenantKey) || (this.#shared(tenantKey) > 0 && this.#isBudgetAwaited());
  }

  /** Lets in who fits, in order. */
  #admit(): void {
    const blocked = new Set<string>();
    let isBudgetBlocked = false;
    for (const request of this.#waiting) {
      const { tenantKey, bytes } = request;
      if (blocked.has(tenantKey)) continue;
      const needsBudget = this.#sharedFor(tenantKey, bytes) > 0;
      const fitsPart = this.#fitsPart(tenantKey, bytes);
      if (fitsPart && !(needsBudget && isBudgetBlocked) && this.#tryTake(tenantKey, bytes)) {
        this.#waiting.delete(request);
        request.grant();
        continue;
      }
      blocked.add(tenantKey);
      if (fitsPart) isBudgetBlocked = true;
    }
  }

  #hasWaiting(tenantKey: string): boolean {
    for (const waiting of this.#waiting) if (waiting.tenantKey === tenantKey) return true;
    return false;
  }

  /** Whether somebody waits for nothing but the budget: neither for its own part nor for its tenant's earlier bodies. */
  #isBudgetAwaited(): boolean {
    const seen = new Set<string>();
    for (const { tenantKey, bytes } of this.#waiting) {
      if (!seen.has(tenantKey) && this.#fitsPart(tenantKey, bytes)) return true;
      seen.add(tenantKey);
    }
    return false;
  }

  #tryTake(tenantKey: string, bytes: number): boolean {
    const shared = this.#sharedFor(tenantKey, bytes);
    if (shared > this.#freeBytes) return false;
    this.#freeBytes -= shared;
    this.#held.set(tenantKey, this.#heldBy(tenantKey) + bytes);
    return true;
  }

  #fitsPart(tenantKey: string, bytes: number): boolean {
    return this.#sharedPart(this.#heldBy(tenantKey) + bytes) <= this.#tenantBytes;
  }

  /** How much of the budget it takes to hold so much more. */
  #sharedFor(tenantKey: string, bytes: number): number {
    return this.#sharedPart(this.#heldBy(tenantKey) + bytes) - this.#shared(tenantKey);
  }

  #shared(tenantKey: string): number {
    return this.#sharedPart(this.#heldBy(tenantKey));
  }

  #heldBy(tenantKey: string): number {
    return this.#held.get(tenantKey) ?? 0;
  }

  #sharedPart(heldBytes: number): number {
    return Math.max(0, heldBytes - this.#ownBytes);
  }
}
