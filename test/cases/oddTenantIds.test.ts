// Case 14: tenant ids that mean something elsewhere mean nothing here.
import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { afterAllTests } from '../support/atEnd.ts';
import { invokeMessage } from '../support/calls.ts';
import { expectRan, expectTenantMismatch } from '../support/expectations.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStubs } from '../support/hostedStubs.ts';

/** Everything in the test's folder outside the gateway's state. */
function filesOutsideState(folder: string): string[] {
  return (readdirSync(folder, { recursive: true }) as string[]).filter((path) => !path.startsWith('state')).toSorted();
}

describe('case 14: tenant ids with a meaning elsewhere', () => {
  const atEnd = afterAllTests();
  let cold: HostedStubs<'a'>;

  beforeAll(async () => {
    cold = await hostStubs({ a: { tenantId: 'a' } }, {}, atEnd);
  });

  it.each([
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['toString', 'toString'],
    ['hasOwnProperty', 'hasOwnProperty'],
    ['../etc', '../etc'],
    ['a/../b', 'a/../b'],
    ['.', '.'],
    ['a%2Fb', 'a%2Fb'],
    ['10,000 letters', 'x'.repeat(10_000)],
    ['nothing', ''],
    ['A where a is hosted', 'A'],
  ])('%s is no tenant: 421, nothing starts, nothing is written', async (_, tenantId) => {
    const { folder, gateway, stubs } = cold;
    const before = filesOutsideState(folder);
    const headers = { 'kindgi-tenant-id': tenantId };
    expectTenantMismatch(await stubs.a.invoke({ headers, contextTenantId: tenantId }));
    expectTenantMismatch(await stubs.a.info({ headers }));
    expect(filesOutsideState(folder)).toEqual(before);
    expect(stubs.a.starts()).toEqual([]);
    expect(gateway.records.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('blanks around a header value are no part of it', async () => {
    const { stubs } = await hostStubs({ a: { tenantId: 'a' } });
    expectRan(await stubs.a.post(invokeMessage('a'), { headers: { 'kindgi-tenant-id': ' \t a  ' } }));
    expect(stubs.a.runs()).toHaveLength(1);
  });

  it.each(['constructor', '__proto__', 'a.b'])(
    'a configured tenant called %s works like any other',
    async (tenantId) => {
      const { stubs } = await hostStubs({ odd: { tenantId }, other: { tenantId: 'other' } });
      expectRan(await stubs.odd.invoke());
      expect(stubs.odd.runs().map((run) => run.tenantId)).toEqual([tenantId]);
      expectTenantMismatch(await stubs.odd.invoke({ contextTenantId: 'other' }));
      expect(stubs.odd.runs()).toHaveLength(1);
      expect(stubs.other.starts()).toEqual([]);
    },
  );
});
