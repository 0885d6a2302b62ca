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
import type { Equals, Objections } from './judge.ts';

/** What a matcher tells its runner. */
export interface Judgement {
  readonly pass: boolean;
  readonly message: () => string;
}

/** What `expect(answer)` gets; answers are those of a `PackClient`. */
export interface PackMatchers<R = unknown> {
  /** 421: the call was for another tenant, did not run, and is not to be sent again. */
  toBeTenantMismatch(): R;
  /** 503 with `Retry-After`, of this code: it did not run and may be sent again. */
  toBeTryAgain(code?: string): R;
  /** 500 without `Retry-After`: it may have run. */
  toBeMayHaveRun(): R;
  /** 200 with a result; with this output, or this verdict of a check, where one is given. */
  toBeResult(output?: unknown): R;
  /** 200 with an error message, of this code. */
  toBeToolError(code?: string): R;
}

/** A runner's own comparison, which knows `expect.any(String)` and the like. */
interface Runner {
  readonly equals?: Equals;
}

/** For `expect.extend(matchers)` of vitest and Jest. `packgate/testing/vitest` does that, and types it. */
export const matchers = {
  toBeTenantMismatch(answer: Answer): Judgement {
    return judgement(answer, 'a tenant mismatch', objectionsToTenantMismatch);
  },
  toBeTryAgain(answer: Answer, code?: string): Judgement {
    return judgement(answer, '"try again"', (it) => objectionsToTryAgain(it, code));
  },
  toBeMayHaveRun(answer: Answer): Judgement {
    return judgement(answer, '"may have run"', objectionsToMayHaveRun);
  },
  toBeResult(this: Runner | undefined, answer: Answer, ...output: readonly unknown[]): Judgement {
    const equals: Equals = (found, expected) => this?.equals?.(found, expected) ?? isEqual(found, expected);
    return judgement(answer, 'a result', (it) => objectionsToResult(it, equals, ...output));
  },
  toBeToolError(answer: Answer, code?: string): Judgement {
    return judgement(answer, 'an error message', (it) => objectionsToToolError(it, code));
  },
};

function judgement(answer: Answer, what: string, judge: (answer: Answer) => Objections): Judgement {
  if (!isAnswer(answer)) {
    throw new TypeError(`expected the answer of a client, got ${JSON.stringify(answer) ?? 'nothing'}`);
  }
  const objections = judge(answer);
  const got = `\n  got ${answerText(answer)}`;
  return {
    pass: objections.length === 0,
    message: () =>
      objections.length === 0
        ? `expected anything but ${what}${got}`
        : `expected ${what}, but ${objections.join('; ')}${got}`,
  };
}

/** What a test forgot to await is no answer; nor is it `not` a tenant mismatch. */
function isAnswer(value: unknown): value is Answer {
  return typeof value === 'object' && value !== null && 'status' in value && 'headers' in value;
}
