/** Longest delay of a timer: above it Node's fires at once. */
const MAX_DELAY_MS = 2_147_483_647;

/** Time as the gateway sees it: a seam, so that delays can be tested without waiting for them. Milliseconds, monotonic. */
export interface Clock {
  now(): number;
  /** Calls `action` once after `delayMs` (at most 24 days); the returned function cancels it. */
  after(delayMs: number, action: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, Math.min(delayMs, MAX_DELAY_MS));
    return () => clearTimeout(timer);
  },
};
