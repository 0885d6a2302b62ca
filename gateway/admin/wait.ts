import { parseDurationMs } from '../config/units.ts';
import { AdminRefusal } from './refusal.ts';

/** How long `?wait=1` waits for an order to be done. */
export const DEFAULT_WAIT_MS = 90_000;
/** Longest wait; a longer one is cut to it. */
export const MAX_WAIT_MS = 600_000;

/**
 * Milliseconds that `?wait=` asks for, undefined where it is not there: `1`, or a duration with its unit (`30s`).
 * @throws {AdminRefusal} for anything else.
 */
export function waitOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (value === '1') return DEFAULT_WAIT_MS;
  const ms = typeof value === 'string' ? parseDurationMs(value) : undefined;
  if (ms === undefined)
    throw new AdminRefusal('bad-request', 'wait must be 1 or a duration with its unit, such as 30s');
  return Math.min(ms, MAX_WAIT_MS);
}

/** What `done` gives, or undefined when `ms` have passed or a signal is aborted before. Rejects as `done` does. */
export async function within<T>(
  done: Promise<T>,
  ms: number,
  ...signals: readonly AbortSignal[]
): Promise<T | undefined> {
  let giveUp: (() => void) | undefined;
  const patience = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
  });
  const timer = setTimeout(() => giveUp?.(), ms);
  for (const signal of signals) {
    if (signal.aborted) giveUp?.();
    else if (giveUp !== undefined) signal.addEventListener('abort', giveUp);
  }
  try {
    return await Promise.race([done, patience]);
  } finally {
    clearTimeout(timer);
    for (const signal of signals) if (giveUp !== undefined) signal.removeEventListener('abort', giveUp);
  }
}
