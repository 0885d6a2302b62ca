import { isDeepStrictEqual } from 'node:util';
import { HEADER } from '../../shared/protocol/headers.ts';
import type { Answer } from './client.ts';

/** What speaks against an answer being what it is expected to be, in words; nothing: it is. */
export type Objections = readonly string[];

export type Equals = (found: unknown, expected: unknown) => boolean;

/** 421: refused because it is for another tenant. It did not run, and sending it again is pointless (A8, B8). */
export function objectionsToTenantMismatch(answer: Answer): Objections {
  return [
    ...objectionsToStatus(answer, 421),
    ...objectionsToCode(answer, 'pack-tenant-mismatch'),
    ...unless(answer.headers['retry-after'] === undefined, 'it has Retry-After, which invites to send it again'),
    ...unless(answer.headers[HEADER.artifactVersion] === undefined, 'it has the headers of a call that ran'),
  ];
}

/** 503 with `Retry-After`: it provably did not run, and may be sent again (A8, A9). */
export function objectionsToTryAgain(answer: Answer, code?: string): Objections {
  const retryAfter = answer.headers['retry-after'];
  return [
    ...objectionsToStatus(answer, 503),
    ...unless(
      typeof retryAfter === 'string' && /^\d+$/.test(retryAfter),
      `Retry-After is ${retryAfter === undefined ? 'missing' : JSON.stringify(retryAfter)}, not a number of seconds`,
    ),
    ...objectionsToCode(answer, code),
  ];
}

/** 500 without `Retry-After`: it may have run, so nobody but its sender may decide to send it again (G6, G7). */
export function objectionsToMayHaveRun(answer: Answer): Objections {
  return [
    ...objectionsToStatus(answer, 500),
    ...unless(answer.headers['retry-after'] === undefined, 'it has Retry-After, though it may have run'),
  ];
}

/** 200 with a result, and with this output where one is given (D14, A11). */
export function objectionsToResult(answer: Answer, equals: Equals, ...expected: readonly unknown[]): Objections {
  const { kind, output, result } = bodyOf(answer);
  const value = kind === 'check-result' ? result : output;
  return [
    ...objectionsToStatus(answer, 200),
    ...unless(
      kind === 'result' || kind === 'check-result',
      `its message is ${JSON.stringify(kind) ?? 'none'}, not a result`,
    ),
    ...[HEADER.durationMs, HEADER.artifactVersion].flatMap((name) =>
      unless(answer.headers[name] !== undefined, `${name} is missing`),
    ),
    ...unless(
      expected.length === 0 || equals(value, expected[0]),
      `it is ${JSON.stringify(value)}, not ${JSON.stringify(expected[0])}`,
    ),
  ];
}

/** 200 with an error message: the pack was reached, and this came of it (D12). */
export function objectionsToToolError(answer: Answer, code?: string): Objections {
  const { kind } = bodyOf(answer);
  return [
    ...objectionsToStatus(answer, 200),
    ...unless(kind === 'error', `its message is ${JSON.stringify(kind) ?? 'none'}, not an error`),
    ...objectionsToCode(answer, code),
  ];
}

export const isEqual: Equals = isDeepStrictEqual;

/** The answer, for whoever has to see what was wrong with it. */
export function answerText({ status, headers, text }: Answer): string {
  const retryAfter = headers['retry-after'];
  return `${status}${retryAfter === undefined ? '' : ` (Retry-After: ${String(retryAfter)})`} ${text}`;
}

function objectionsToStatus({ status }: Answer, expected: number): Objections {
  return unless(status === expected, `its status is ${status}, not ${expected}`);
}

function objectionsToCode(answer: Answer, expected: string | undefined): Objections {
  const { code } = bodyOf(answer);
  return unless(
    expected === undefined || code === expected,
    `its code is ${JSON.stringify(code) ?? 'none'}, not "${expected ?? ''}"`,
  );
}

function bodyOf({ body }: Answer): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

function unless(holds: boolean, objection: string): Objections {
  return holds ? [] : [objection];
}
