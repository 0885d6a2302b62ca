// Case 7: a caller that closes its connection has cancelled its call, and the child hears of it.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { invokeMessage, invokeMessageOf } from '../support/calls.ts';
import { expectRan } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import type { Gateway } from '../support/gateway.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStub } from '../support/hostedStubs.ts';
import { descriptorCount } from '../support/processes.ts';
import { callBytes, openRawClient } from '../support/rawClient.ts';
import type { RawClient } from '../support/rawClient.ts';

const TIMES = 100;
/** Callers at once: below the deployment's concurrency, so that each one's call is with the child when it leaves. */
const AT_ONCE = 15;

/** Every time: a second, and the fifth more that times are given. */
const CLOSED_WITHIN_MS = 1_000 * 1.2;

/** One caller's story: returns when it has left. */
type Leave = (client: RawClient, gateway: Gateway, stub: HostedStub, requestId: string) => Promise<void>;

const leaveWhileItWorks: Leave = async (client, gateway, stub, requestId) => {
  client.send(
    callBytes(gateway, stub.tenantId, invokeMessage(stub.tenantId, { requestId, input: { act: 'sleep', ms: 30_000 } })),
  );
  await delay(300);
};

const leaveAfterTheFirstPiece: Leave = async (client, gateway, stub, requestId) => {
  const input = { act: 'stream', bytes: 50_000_000 };
  client.send(callBytes(gateway, stub.tenantId, invokeMessage(stub.tenantId, { requestId, input })));
  await until('the first 64 KB of the answer', () => client.receivedBytes() >= 65_536, 10_000);
};

const leaveDuringTheUpload: Leave = async (client, gateway, stub, requestId) => {
  const bytes = callBytes(gateway, stub.tenantId, invokeMessageOf(1_000_000, stub.tenantId, { requestId }));
  client.send(bytes.subarray(0, 500_000));
  await delay(20);
};

describe('case 7: the caller leaves', () => {
  it('300 callers leave while the child works, in a long answer, in their upload: nothing of them stays', async () => {
    const { gateway, stubs } = await hostStubs({ a: { settings: { idle: '3s' } } });
    expectRan(await stubs.a.invoke());
    const before = descriptorCount(gateway.pid);

    const leftAt = new Map<string, number>();
    const uploads = new Set<string>();
    const stories = Array.from({ length: TIMES }, () => [
      leaveWhileItWorks,
      leaveAfterTheFirstPiece,
      leaveDuringTheUpload,
    ]);
    const queue = stories.flat();
    const work = async (): Promise<void> => {
      for (let leave = queue.shift(); leave !== undefined; leave = queue.shift()) {
        const requestId = randomUUID();
        if (leave === leaveDuringTheUpload) uploads.add(requestId);
        const client = await openRawClient(gateway.port);
        await leave(client, gateway, stubs.a, requestId);
        leftAt.set(requestId, Date.now());
        // Half of them with a reset, half with an orderly end.
        if (queue.length % 2 === 0) client.reset();
        else client.close();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));

    const closed = await until('every call is closed at the child', () => {
      const events = stubs.a.events('call-closed').filter(({ requestId }) => leftAt.has(requestId ?? ''));
      return events.length >= 2 * TIMES && events;
    });
    expect(closed).toHaveLength(2 * TIMES);
    expect(closed.filter(({ wasAnswered }) => wasAnswered)).toEqual([]);
    const delays = closed.map(({ requestId = '', at }) => at - (leftAt.get(requestId) ?? 0)).toSorted((a, b) => a - b);
    expect(delays.at(-1)).toBeLessThan(CLOSED_WITHIN_MS);
    expect(stubs.a.ranIds().filter((id) => uploads.has(id))).toEqual([]);
    // In use by nobody, the tenant goes idle: no call is counted as in flight any more.
    await until('the tenant is idle', () => stubs.a.events('stopped').length === 1, 10_000);
    await until('the descriptors are given back', () => descriptorCount(gateway.pid) <= before, 10_000);
    expectRan(await stubs.a.invoke());
    expect(stubs.a.starts()).toHaveLength(2);
  }, 60_000);

  it('A42: a caller that only ends its side has left, too', async () => {
    const { gateway, stubs } = await hostStubs({ a: {} });
    expectRan(await stubs.a.invoke());
    const requestId = randomUUID();
    const client = await openRawClient(gateway.port);
    const body = invokeMessage(stubs.a.tenantId, { requestId, input: { act: 'sleep', ms: 30_000 } });
    client.send(callBytes(gateway, stubs.a.tenantId, body));
    await until('the call runs', () => stubs.a.ranIds().includes(requestId));
    client.halfClose();
    await until(
      'the call is closed at the child',
      () => stubs.a.events('call-closed').some((event) => event.requestId === requestId),
      1_500,
    );
    expect(await client.readToEnd()).toBe('');
  });
});
