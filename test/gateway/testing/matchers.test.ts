import { describe, expect, it } from 'vitest';
import * as assertions from '../../../gateway/testing/assertions.ts';
import type { CallAnswer } from '../../../gateway/testing/client.ts';
import '../../../gateway/testing/vitest.ts';

const MESSAGE_HEADERS = { 'kindgi-duration-ms': '1', 'kindgi-artifact-version': '1' };

function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): CallAnswer {
  return { status, headers, text: JSON.stringify(body), body, message: undefined };
}

const mismatch = answer(421, { error: 'another tenant', code: 'pack-tenant-mismatch' });
const tryAgain = answer(503, { error: 'overloaded', code: 'queue-full' }, { 'retry-after': '1' });
const bare503 = answer(503, { error: 'overloaded', code: 'queue-full' });
const mayHaveRun = answer(500, { error: 'lost', code: 'instance-lost' });
const result = answer(200, { v: 2, kind: 'result', output: { name: 'Ada', age: 36 } }, MESSAGE_HEADERS);
const verdict = answer(200, { v: 2, kind: 'check-result', result: { passed: false } }, MESSAGE_HEADERS);
const failed = answer(200, { v: 2, kind: 'error', code: 'handler-throw', message: 'boom' }, MESSAGE_HEADERS);
const paused = answer(200, { v: 2, kind: 'pause' }, MESSAGE_HEADERS);
const all = { mismatch, tryAgain, bare503, mayHaveRun, result, verdict, failed, paused };

function namesOf(holds: (one: CallAnswer) => void): string[] {
  return Object.entries(all)
    .filter(([, one]) => {
      try {
        holds(one);
        return true;
      } catch {
        return false;
      }
    })
    .map(([name]) => name);
}

describe('matchers and assertions', () => {
  it('each is true of its own answers only', () => {
    expect(namesOf((one) => expect(one).toBeTenantMismatch())).toEqual(['mismatch']);
    expect(namesOf((one) => expect(one).toBeTryAgain())).toEqual(['tryAgain']);
    expect(namesOf((one) => expect(one).toBeMayHaveRun())).toEqual(['mayHaveRun']);
    expect(namesOf((one) => expect(one).toBeResult())).toEqual(['result', 'verdict']);
    expect(namesOf((one) => expect(one).toBeToolError())).toEqual(['failed']);
  });

  it('an assertion says the same as its matcher', () => {
    expect(namesOf(assertions.assertTenantMismatch)).toEqual(['mismatch']);
    expect(namesOf((one) => assertions.assertTryAgain(one))).toEqual(['tryAgain']);
    expect(namesOf(assertions.assertMayHaveRun)).toEqual(['mayHaveRun']);
    expect(namesOf((one) => assertions.assertResult(one))).toEqual(['result', 'verdict']);
    expect(namesOf((one) => assertions.assertToolError(one))).toEqual(['failed']);
  });

  it('take a code, an output, a verdict, and the comparisons of the runner', () => {
    expect(tryAgain).toBeTryAgain('queue-full');
    expect(tryAgain).not.toBeTryAgain('stopped');
    expect(failed).toBeToolError('handler-throw');
    expect(failed).not.toBeToolError('cancelled');
    expect(result).toBeResult({ age: 36, name: 'Ada' });
    expect(result).toBeResult({ name: expect.any(String), age: 36 });
    expect(result).not.toBeResult({ name: 'Ada' });
    expect(result).not.toBeResult(undefined);
    expect(verdict).toBeResult({ passed: false });
    expect(() => assertions.assertResult(result, { name: 'Bob' })).toThrow(
      'it is {"name":"Ada","age":36}, not {"name":"Bob"}',
    );
  });

  it('a refusal that runs against its meaning is none', () => {
    expect({ ...mismatch, headers: { 'retry-after': '1' } }).not.toBeTenantMismatch();
    expect({ ...mismatch, headers: MESSAGE_HEADERS }).not.toBeTenantMismatch();
    expect({ ...mayHaveRun, headers: { 'retry-after': '1' } }).not.toBeMayHaveRun();
    expect({ ...tryAgain, headers: { 'retry-after': 'soon' } }).not.toBeTryAgain();
    expect({ ...result, headers: {} }).not.toBeResult();
  });

  it('say all that speaks against it, and what came', () => {
    expect(() => expect(bare503).toBeTenantMismatch()).toThrow(
      'expected a tenant mismatch, but its status is 503, not 421; its code is "queue-full", not "pack-tenant-mismatch"\n' +
        '  got 503 {"error":"overloaded","code":"queue-full"}',
    );
    expect(() => expect(mismatch).not.toBeTenantMismatch()).toThrow(
      'expected anything but a tenant mismatch\n  got 421',
    );
    expect(() => expect(bare503).toBeTryAgain()).toThrow('Retry-After is missing, not a number of seconds');
  });

  it('what is no answer, a promise for example, is told apart', () => {
    expect(() => expect(Promise.resolve(mismatch)).toBeTenantMismatch()).toThrow(
      'expected the answer of a client, got {}',
    );
    expect(() => expect(undefined).not.toBeTenantMismatch()).toThrow('expected the answer of a client');
  });
});
