import { expect } from 'vitest';
import type { Answer } from './http.ts';

/** The call provably did not run and may be sent again: 503, `Retry-After` in whole seconds, a code if one is named. */
export function expectTryAgain(answer: Answer, code?: string): void {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 503 });
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  if (code !== undefined) expect(answer.json.code).toBe(code);
}

/** The call may have run: 500, and nothing that invites to send it again. */
export function expectMayHaveRun(answer: Answer): void {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 500 });
  expect(answer.headers['retry-after']).toBeUndefined();
}

export function expectTenantMismatch(answer: Answer): void {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 421 });
  expect(answer.json).toEqual({ error: expect.any(String) as string, code: 'pack-tenant-mismatch' });
  expect(answer.headers['retry-after']).toBeUndefined();
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('kindgi-'))).toEqual([]);
}

/** The stub's own answer to a call that ran, and which start of it answered. */
export function expectRan(answer: Answer): { start: number } {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 });
  expect(answer.json).toMatchObject({ v: 2, kind: 'result', output: { start: expect.any(Number) as number } });
  return answer.json.output as { start: number };
}
