// A call for another tenant is 421 in every form, runs nowhere, and is sent once.
import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { afterAllTests } from '../support/atEnd.ts';
import type { AtEnd } from '../support/atEnd.ts';
import { info, invoke, invokeMessage } from '../support/calls.ts';
import type { CallOptions, Endpoint } from '../support/calls.ts';
import { startCountingRelay } from '../support/countingRelay.ts';
import { expectRan, expectTenantMismatch } from '../support/expectations.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { StubBehaviour } from '../support/stubPack.ts';

const A = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
const B = '8d1c6c0e-0d3f-4c52-9c52-6a1f8f6f2b10';
const UNKNOWN = '11111111-2222-4333-8444-555555555555';
/** Opens B alone. */
const TOKEN_OF_B = randomUUID();

/** What is wrong with a call whose context is tenant A's. */
const WRONG_HEADERS: [string, CallOptions][] = [
  ['no tenant header', { headers: { 'kindgi-tenant-id': undefined } }],
  ['an empty tenant header', { headers: { 'kindgi-tenant-id': '' } }],
  ['the right tenant twice', { headers: { 'kindgi-tenant-id': [A, A] } }],
  ['the right tenant and another', { headers: { 'kindgi-tenant-id': [A, B] } }],
  ['an unknown tenant', { headers: { 'kindgi-tenant-id': UNKNOWN } }],
  ['a tenant that the token does not open', { token: TOKEN_OF_B }],
];

/** Only a body names these. */
const WRONG_BODIES: [string, CallOptions][] = [
  ['the header of another tenant', { headers: { 'kindgi-tenant-id': B } }],
  ['the context of another tenant', { contextTenantId: B }],
  ['the context of an unknown tenant', { contextTenantId: UNKNOWN }],
];

/** A's and B's packs, and the gateway behind a relay that counts. */
async function host(behaviour: StubBehaviour, atEnd?: AtEnd) {
  const { gateway, stubs } = await hostStubs(
    { a: { tenantId: A, behaviour }, b: { tenantId: B, behaviour } },
    { tokens: [{ sha256: createHash('sha256').update(TOKEN_OF_B).digest('hex'), tenants: [B] }] },
    atEnd,
  );
  const relay = await startCountingRelay(gateway.port, atEnd);
  const endpoint: Endpoint = { address: relay.address, token: gateway.token };
  return { stubs, relay, endpoint };
}

type Hosted = Awaited<ReturnType<typeof host>>;

describe.each([
  ['a child that checks', {}],
  ['a child that ignores the pin', { checksHeader: false, checksContext: false }],
])('with %s', (_, behaviour) => {
  const atEnd = afterAllTests();
  /** Never gets a good call, so that nothing ever starts. */
  let cold: Hosted;
  /** Both packs are up and have run one call each. */
  let warm: Hosted;

  beforeAll(async () => {
    cold = await host(behaviour, atEnd);
    warm = await host(behaviour, atEnd);
    expectRan(await warm.stubs.a.invoke());
    expectRan(await warm.stubs.b.invoke());
  });

  it.each(WRONG_HEADERS)('%s: 421 to invoke and info, one request each, no child is started', async (_form, wrong) => {
    const { stubs, relay, endpoint } = cold;
    const before = relay.requests();
    expectTenantMismatch(await invoke(endpoint, A, wrong));
    expectTenantMismatch(await info(endpoint, A, wrong));
    expect(relay.requests() - before).toBe(2);
    expect([...stubs.a.starts(), ...stubs.b.starts()]).toEqual([]);
  });

  it.each([...WRONG_HEADERS, ...WRONG_BODIES])('%s: 421 by a warm gateway, none of it runs', async (_form, wrong) => {
    const { stubs, relay, endpoint } = warm;
    const before = relay.requests();
    expectTenantMismatch(await invoke(endpoint, A, wrong));
    expect(relay.requests() - before).toBe(1);
    expect([stubs.a.runs().length, stubs.b.runs().length]).toEqual([1, 1]);
  });

  it.each(WRONG_BODIES)('%s: 421 by a cold gateway, too', async (_form, wrong) => {
    const { stubs, relay, endpoint } = await host(behaviour);
    expectTenantMismatch(await invoke(endpoint, A, wrong));
    expect(relay.requests()).toBe(1);
    expect([...stubs.a.runs(), ...stubs.b.runs()]).toEqual([]);
  });

  it('B12: every refusal reads the same, whoever is behind, and names no tenant', async () => {
    const texts = new Set<string>();
    for (const [, wrong] of WRONG_HEADERS) {
      for (const ask of [invoke, info]) texts.add((await ask(warm.endpoint, A, wrong)).text);
    }
    for (const [, wrong] of WRONG_BODIES) texts.add((await invoke(cold.endpoint, A, wrong)).text);
    expect([...texts]).toHaveLength(1);
    expect([...texts][0]).not.toMatch(new RegExp(`${A}|${B}|${UNKNOWN}`));
  });

  it('a tenant id in other letters is the same tenant, and its child hears it as configured', async () => {
    const { stubs } = await host(behaviour);
    expectRan(await stubs.a.post(invokeMessage(A.toUpperCase()), { headers: { 'kindgi-tenant-id': A.toUpperCase() } }));
    expect(stubs.a.runs()[0]?.headers['kindgi-tenant-id']).toBe(A);
  });
});
