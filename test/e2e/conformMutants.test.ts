import { afterAll, describe, expect, test } from 'vitest';
import { buildConformance, conformReport, mutant } from '../gateway/cli/conformance.ts';
import type { BuiltConformance } from '../gateway/cli/conformance.ts';

/** Every planted defect, and the check by which it has to be found. */
const CLAUSE_BY_DEFECT: Readonly<Record<string, string>> = {
  'unknown path is a health check': 'A1/nothing-else',
  'path in any letter case': 'A4/exact-path',
  'HEAD is answered like GET': 'A6/head',
  '405 names no method': 'A6/methods',
  'failed call is a 500': 'D12/handler-throw',
  'malformed body is a 400': 'A28/not-json',
  'no Retry-After': 'A3/full',
  'no duration': 'A11/result',
  'no artifact version': 'A11/error',
  'type without charset': 'A10/json',
  'JSON with white space': 'A10/json',
  'answers in chunks': 'A10/json',
  'WWW-Authenticate on a 401': 'A15/token',
  'closes after every answer': 'A43/keep-alive',
  'token in any letter case': 'A16/exact-token',
  'first of two tokens counts': 'A17/token-twice',
  '421 without its code': 'B1/header-foreign',
  '403 instead of 421': 'B1/context',
  'header of another tenant is accepted': 'B1/header-foreign',
  'missing tenant header is accepted': 'B1/header-missing',
  'context of another tenant is accepted': 'B1/context',
  'tenant compared by letter case': 'B2/letter-case',
  '421 names the tenant': 'B8/same-body',
  'record of a 421 names the tenant': 'B9/records',
  'any type is JSON': 'A21/refused',
  'limit one byte too low': 'A24/limit',
  'limit one byte too high': 'A24/over-limit',
  'type before token': 'A2/401-before-415',
  'tenant before token': 'A2/401-before-421',
  'cap before tenant': 'B4/full',
  'deadline counts from the first byte': 'A34/clock',
  'drain of two seconds': 'C32/long-call',
  'second SIGTERM is a failure': 'C35/second-signal',
  'serves without its variables': 'C17/strict',
  'dies of a HEAD': 'A6/head',
  'tools in another order': 'D29/tools',
  'stack shows where the pack lies': 'D22/no-paths',
  'cause without a name': 'D12/handler-throw',
  'defaults are not filled': 'D10/defaults',
  'deadline two seconds late': 'A37/message',
  'deadline of 0 is a deadline': 'A34/ignored',
  'deadline is a 504': 'A37/message',
  'goes on when its caller leaves': 'A39/close',
  'more calls than its cap': 'A3/full',
  'closes idle connections after 1 s': 'A43/idle',
  'listens on every address': 'C1/host',
  'second listening line': 'C14/listening',
  'listening line while it stops': 'C14/listening',
  'listening line without the pack': 'C14/listening',
  'listening line is bare text': 'C14/listening',
  'token stays in the environment': 'C6/token-gone',
  'undeclared variables stay': 'C8/filter',
  'failed start exits with 0': 'C13/unreadable-index',
  'stops with code 3': 'C30/idle',
  'no drain': 'C29/calls-end',
  'SIGINT is ignored': 'C36/interrupt',
  'ready while draining': 'C29/refusals',
  'not healthy while draining': 'C30/still-open',
  'no call records': 'C20/call',
  'records without milliseconds': 'C18/record',
  'info without index hash': 'D29/index-hash',
  'info with another key': 'D28/keys',
  'any version of a tool': 'D4/exact',
  'issues without parameters': 'D18/params',
  'error without the tool': 'D13/ids',
  'result with another key': 'A1/routes',
};

/** Each starts some processes on a machine that may be busy. */
const SLOW = { timeout: 90_000 };

let built: BuiltConformance | undefined;
const packOptions = (): readonly string[] => (built ??= buildConformance()).options;
afterAll(() => built?.remove());

describe.concurrent('packgate conform, of our service with one planted defect', () => {
  for (const [defect, clause] of Object.entries(CLAUSE_BY_DEFECT)) {
    test(`"${defect}" is found by ${clause}`, SLOW, async () => {
      const { code, findings } = await conformReport([...packOptions(), '--only', clause, '--', ...mutant(defect)]);
      expect([code, findings]).toEqual([1, [clause]]);
    });
  }

  test('without a defect none of these checks finds anything', SLOW, async () => {
    const only = [...new Set(Object.values(CLAUSE_BY_DEFECT))].join(',');
    const { code, checks } = await conformReport([...packOptions(), '--only', only, '--', ...mutant('none')]);
    expect(code).toBe(0);
    expect(checks.filter(({ verdict }) => verdict !== 'holds')).toEqual([]);
    expect(checks.length).toBeGreaterThanOrEqual(30);
  });
});
