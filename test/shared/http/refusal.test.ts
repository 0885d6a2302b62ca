import { describe, expect, test } from 'vitest';

import { asRefusal, Refusal } from '../../../shared/http/refusal.ts';

describe('a refusal', () => {
  test.each([
    ['not-found', 404],
    ['method-not-allowed', 405],
    ['bad-token', 401],
    ['pack-tenant-mismatch', 421],
    ['body-too-large', 413],
    ['not-json', 415],
    ['instance-lost', 500],
    ['internal', 500],
  ] as const)('A8: %s is %s, without Retry-After', (code, status) => {
    expect(new Refusal(code, { retryAfterS: 9 })).toMatchObject({ code, status, retryAfterS: undefined });
  });

  test.each([
    ['draining', 'draining'],
    ['missing-env', 'missing env'],
    ['not-ready', 'not ready'],
    ['overloaded', 'overloaded'],
    ['cooling', 'not ready'],
    ['queue-full', 'overloaded'],
    ['queue-timeout', 'overloaded'],
    ['bodies-full', 'overloaded'],
    ['unreachable', 'not ready'],
  ] as const)('A9: %s is 503, its text begins with "%s", and it can be tried again', (code, word) => {
    const refusal = new Refusal(code);
    expect(refusal).toMatchObject({ status: 503, retryAfterS: 1 });
    expect(refusal.message.startsWith(word)).toBe(true);
  });

  test('A9: a wait is told in whole seconds, at least one', () => {
    expect(new Refusal('cooling', { retryAfterS: 2.1 }).retryAfterS).toBe(3);
    expect(new Refusal('cooling', { retryAfterS: 0.2 }).retryAfterS).toBe(1);
  });

  test('a detail is added to the text', () => {
    expect(new Refusal('method-not-allowed', { detail: 'use POST' }).message).toMatch(/: use POST$/);
  });

  test('anything else that is thrown is an internal error that keeps its cause', () => {
    const cause = new Error('x');
    expect(asRefusal(cause)).toMatchObject({ code: 'internal', status: 500, cause });
    const refusal = new Refusal('draining');
    expect(asRefusal(refusal)).toBe(refusal);
  });
});
