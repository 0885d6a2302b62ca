import { MAX_TIMEOUT_MS } from '../../shared/protocol/limits.ts';

/** A duration with its unit, `1.5s`. A number alone is refused: half of the readers would take it for seconds. */
export const DURATION_PATTERN = '^[0-9]+(?:\\.[0-9]+)?(?:ms|s|m|h|d)$';
/** A size with its unit, in powers of 1024: `64MiB`. */
export const SIZE_PATTERN = '^[0-9]+(?:\\.[0-9]+)?(?:B|KiB|MiB|GiB)$';

/** Longest duration in milliseconds: above it a 32-bit timer fires at once. */
export const MAX_DURATION_MS = MAX_TIMEOUT_MS;

const MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES: Readonly<Record<string, number>> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** Milliseconds of a duration (rounded), or undefined where the text is none or is longer than a timer can wait. */
export function parseDurationMs(text: string): number | undefined {
  const value = parse(text, new RegExp(DURATION_PATTERN), MS);
  return value !== undefined && value <= MAX_DURATION_MS ? value : undefined;
}

/** Bytes of a size (rounded), or undefined where the text is none. */
export function parseSizeBytes(text: string): number | undefined {
  const value = parse(text, new RegExp(SIZE_PATTERN), BYTES);
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
}

function parse(text: string, pattern: RegExp, units: Readonly<Record<string, number>>): number | undefined {
  if (!pattern.test(text)) return undefined;
  const digits = /^[0-9.]+/.exec(text)?.[0] ?? '';
  const unit = units[text.slice(digits.length)];
  return unit === undefined ? undefined : Math.round(Number(digits) * unit);
}
