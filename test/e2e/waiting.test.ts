// A call waits for its turn within bounds, and its deadline goes on meanwhile.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectRan, expectTryAgain } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStub } from '../support/hostedStubs.ts';

/** The most calls that the child had at the same time, from its own notes. */
function mostAtOnce(stub: HostedStub): number {
  const changes = [
    ...stub.runs().map(({ at }) => ({ at, by: 1 })),
    ...stub.events('call-closed').map(({ at }) => ({ at, by: -1 })),
  ].toSorted((a, b) => a.at - b.at || a.by - b.by);
  let now = 0;
  return Math.max(...changes.map(({ by }) => (now += by)));
}

describe('waiting', () => {
  it('for a start, no longer than the queue allows: 503, and it never runs', async () => {
    const behaviour = { bootDelayMs: 1_500 };
    const { stubs } = await hostStubs({ a: { behaviour, settings: { queue: { wait: '400ms' } } } });
    const requestId = randomUUID();
    expectTryAgain(await stubs.a.invoke({ requestId }), 'queue-timeout');
    await until('the pack serves', async () => (await stubs.a.invoke()).status === 200);
    expect(stubs.a.ranIds()).not.toContain(requestId);
    expect(stubs.a.starts()).toHaveLength(1);
  });

  it('for a start, no longer than the call’s own deadline', async () => {
    const { stubs } = await hostStubs({ a: { behaviour: { bootDelayMs: 1_500 } } });
    const from = performance.now();
    expectTryAgain(await stubs.a.invoke({ timeoutMs: 300 }), 'queue-timeout');
    expect(performance.now() - from).toBeLessThan(1_200);
    expect(stubs.a.runs()).toEqual([]);
  });

  it('in a line of limited length: who finds it full is told at once', async () => {
    const settings = { concurrency: 1, queue: { size: 2 } };
    const { stubs } = await hostStubs({ a: { settings } });
    const requestId = randomUUID();
    const first = stubs.a.invoke({ requestId, input: { act: 'sleep', ms: 800 } });
    await until('the first call runs', () => stubs.a.ranIds().includes(requestId));
    const answers = await Promise.all([first, ...Array.from({ length: 5 }, () => stubs.a.invoke())]);
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused).toHaveLength(3);
    for (const answer of refused) expectTryAgain(answer, 'queue-full');
    expect(stubs.a.runs()).toHaveLength(3);
  });

  it('for a slot: never more than `concurrency` calls are with the child, and all are served', async () => {
    const { stubs } = await hostStubs({ a: { settings: { concurrency: 3 } } });
    const input = { act: 'sleep', ms: 50 };
    for (const answer of await Promise.all(Array.from({ length: 30 }, () => stubs.a.invoke({ input })))) {
      expectRan(answer);
    }
    expect(stubs.a.runs()).toHaveLength(30);
    expect(mostAtOnce(stubs.a)).toBe(3);
  });

  it('is taken off the deadline that the child is told', async () => {
    const { stubs } = await hostStubs({ a: { behaviour: { bootDelayMs: 600 } } });
    expectRan(await stubs.a.invoke({ timeoutMs: 20_000 }));
    expectRan(await stubs.a.invoke({ timeoutMs: 20_000 }));
    const [waited, warm] = stubs.a.runs().map(({ headers }) => Number(headers['kindgi-timeout-ms']));
    expect(waited).toBeLessThanOrEqual(20_000 - 600);
    expect(warm).toBeGreaterThan(19_000);
  });

  it('a call that the child does not answer in time gets the protocol’s own message, and is cancelled there', async () => {
    const { stubs } = await hostStubs({ a: {} });
    expectRan(await stubs.a.invoke());
    const requestId = randomUUID();
    const from = performance.now();
    const answer = await stubs.a.invoke({ requestId, timeoutMs: 300, input: { act: 'sleep', ms: 30_000 } });
    expect(performance.now() - from).toBeLessThan(1_500);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ v: 2, kind: 'error', code: 'deadline-exceeded', toolId: 'stub.act' });
    expect(answer.headers['kindgi-artifact-version']).toBe('20250101.1');
    expect(answer.headers['kindgi-duration-ms']).toMatch(/^\d+$/);
    await until('the call is closed at the child', () =>
      stubs.a.events('call-closed').some((event) => event.requestId === requestId),
    );
    expectRan(await stubs.a.invoke());
    expect(stubs.a.starts()).toHaveLength(1);
  });
});
