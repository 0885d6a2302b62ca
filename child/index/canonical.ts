import { isBag } from '../modules/exports.ts';
import { compare } from './discover.ts';

/**
 * The one text of a JSON value: keys sorted by code unit at every level, two blanks of indentation, one newline at the
 * end (E10). Keys that look like array indexes come first in numeric order, as in every JavaScript object (E12).
 */
export function canonicalText(value: unknown): string {
  return `${JSON.stringify(sorted(value), null, 2)}\n`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isBag(value)) return value;
  const entries = Object.entries(value).sort(([left], [right]) => compare(left, right));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
