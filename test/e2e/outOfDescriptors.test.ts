// No descriptor left: what needs one is refused and tried again, what needs none goes on, and nobody dies of it.
import { describe, expect, it } from 'vitest';
import { invokeMessage } from '../support/calls.ts';
import { expectRan } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { descriptorCount } from '../support/processes.ts';
import { callBytes, openRawClient } from '../support/rawClient.ts';

const LIMIT = 100;

describe('a gateway without a descriptor left', () => {
  it('refuses a start with 503, keeps its instances, and serves again when there are some', async () => {
    const settings = { restart: { min: '100ms', max: '200ms' } };
    const { gateway, stubs } = await hostStubs({ cold: { settings }, warm: {} }, { descriptorLimit: LIMIT });
    expectRan(await stubs.warm.invoke());
    // Connected beforehand: a new connection could not be accepted.
    const [toCold, toWarm] = [await openRawClient(gateway.port), await openRawClient(gateway.port)];
    const fillers = await Promise.all(Array.from({ length: LIMIT }, () => openRawClient(gateway.port)));
    // The one that is left is kept to turn away whom it cannot accept.
    await until('all descriptors are taken', () => descriptorCount(gateway.pid) >= LIMIT - 1);

    toCold.send(callBytes(gateway, stubs.cold.tenantId, invokeMessage(stubs.cold.tenantId)));
    const refused = await toCold.readUntil(/"code":/);
    expect(refused).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 1/i);
    const failed = await gateway.waitForRecord(({ event }) => event === 'start-failed');
    expect(JSON.stringify(failed)).toMatch(/EMFILE|too many open files/);

    // The call cannot be sent on now; the healthy instance is not blamed for it.
    toWarm.send(callBytes(gateway, stubs.warm.tenantId, invokeMessage(stubs.warm.tenantId)));
    expect(await toWarm.readUntil(/"code":|"kind":"result"/)).toMatch(/^HTTP\/1\.1 (503|200) /);

    for (const client of fillers) client.reset();
    await until('descriptors are free again', () => descriptorCount(gateway.pid) < LIMIT / 2);
    await until('the cold one serves', async () => (await stubs.cold.invoke()).status === 200);
    expect(expectRan(await stubs.warm.invoke()).start).toBe(1);
    expect(stubs.warm.starts()).toHaveLength(1);
  });
});
