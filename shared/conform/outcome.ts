import { AssertionError } from 'node:assert/strict';
import { inspect } from 'node:util';
import type { Clause } from './clause.ts';
import { NotLookedAt } from './notLookedAt.ts';

/** What came of one clause. */
export type Outcome =
  | { readonly verdict: 'holds' }
  /** A finding. Both are texts for people; `isCheck` is false where it did not fail by its check but before it. */
  | { readonly verdict: 'deviates'; readonly expected: string; readonly came: string; readonly isCheck: boolean }
  /** `reason` ends the sentence "not looked at: …". */
  | { readonly verdict: 'skipped'; readonly reason: string };

/** Comparisons whose two sides say more than that they differ. */
const COMPARISONS: ReadonlySet<string> = new Set(['strictEqual', 'deepStrictEqual', 'match']);

/** Some versions of Node add the comparison to a message of one's own. */
const APPENDED = /\n\n[^\n]* !== [^\n]*\n$/;

const MAX_TEXT = 600;

/** Runs a clause and tells what came of it. Never rejects: what is thrown is the finding. */
export async function outcomeOf(clause: Clause, run: () => Promise<void>): Promise<Outcome> {
  try {
    await run();
    return { verdict: 'holds' };
  } catch (error) {
    return failureOf(clause, error);
  }
}

function failureOf({ title }: Clause, error: unknown): Outcome {
  if (error instanceof NotLookedAt) return { verdict: 'skipped', reason: error.message };
  if (!(error instanceof AssertionError)) {
    return { verdict: 'deviates', expected: title, came: cut(brokenText(error)), isCheck: false };
  }
  const { expected, actual, operator, message, generatedMessage } = error;
  const label = generatedMessage ? '' : message.replace(APPENDED, '');
  const shows = COMPARISONS.has(operator);
  const came = shows ? `${textOf(actual)}${label === '' ? '' : ` (${label})`}` : label || 'it is not so';
  return { verdict: 'deviates', expected: cut(shows ? textOf(expected) : title), came: cut(came), isCheck: true };
}

/** The check could not be brought to its end: the service is gone, or what it sent cannot be read. */
function brokenText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined || error.message.includes(code) ? error.message : `${code}: ${error.message}`;
}

function textOf(value: unknown): string {
  return inspect(value, { depth: 6, breakLength: Infinity, compact: true });
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
