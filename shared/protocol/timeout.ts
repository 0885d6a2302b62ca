import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from './limits.ts';

/**
 * The deadline a `kindgi-timeout-ms` header asks for, in milliseconds. Digits only, blanks around them ignored;
 * anything else, zero and a header sent twice (joined by Node with a comma) mean the default of 120,000 (A34, A35).
 * Clamped to what a 32-bit timer holds (A36).
 */
export function parseTimeoutMs(header: string | undefined): number {
  if (header === undefined) return DEFAULT_TIMEOUT_MS;
  const text = header.trim();
  if (!/^[0-9]+$/.test(text)) return DEFAULT_TIMEOUT_MS;
  const value = Number(text);
  return value > 0 ? Math.min(value, MAX_TIMEOUT_MS) : DEFAULT_TIMEOUT_MS;
}
