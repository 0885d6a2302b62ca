import { AssertionError } from 'node:assert';
import type { Answer } from './client.ts';
import {
  answerText,
  isEqual,
  objectionsToMayHaveRun,
  objectionsToResult,
  objectionsToTenantMismatch,
  objectionsToToolError,
  objectionsToTryAgain,
} from './judge.ts';
import type { Objections } from './judge.ts';

// For runners without `expect`. Each throws an `AssertionError` that names everything that speaks against it.

/** 421: the call was for another tenant, did not run, and is not to be sent again. */
export function assertTenantMismatch(answer: Answer): void {
  assertNone(answer, 'a tenant mismatch', objectionsToTenantMismatch(answer));
}

/** 503 with `Retry-After`, of this code: it did not run and may be sent again. */
export function assertTryAgain(answer: Answer, code?: string): void {
  assertNone(answer, '"try again"', objectionsToTryAgain(answer, code));
}

/** 500 without `Retry-After`: it may have run. */
export function assertMayHaveRun(answer: Answer): void {
  assertNone(answer, '"may have run"', objectionsToMayHaveRun(answer));
}

/** 200 with a result; with this output, or this verdict of a check, where one is given. */
export function assertResult(answer: Answer, ...output: readonly [] | readonly [unknown]): void {
  assertNone(answer, 'a result', objectionsToResult(answer, isEqual, ...output));
}

/** 200 with an error message, of this code. */
export function assertToolError(answer: Answer, code?: string): void {
  assertNone(answer, 'an error message', objectionsToToolError(answer, code));
}

function assertNone(answer: Answer, what: string, objections: Objections): void {
  if (objections.length === 0) return;
  throw new AssertionError({
    message: `expected ${what}, but ${objections.join('; ')}\n  got ${answerText(answer)}`,
    actual: answer.status,
    operator: 'packgate',
    stackStartFn: assertNone,
  });
}
