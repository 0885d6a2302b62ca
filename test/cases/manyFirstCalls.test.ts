// Case 4: many first calls at once cause one start, and share its fate.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectRan, expectTryAgain } from '../support/expectations.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStub } from '../support/hostedStubs.ts';
import type { StubBehaviour } from '../support/stubPack.ts';

/** Long enough that no second start falls into the test. */
const NO_RESTART = { restart: { min: '60s' } };

function callsAtOnce(stub: HostedStub, count: number) {
  const requestIds = Array.from({ length: count }, () => randomUUID());
  return { requestIds, answers: Promise.all(requestIds.map((requestId) => stub.invoke({ requestId }))) };
}

describe('case 4: many first calls at once', () => {
  it('200 and 50 calls to two cold tenants: one start each, each call runs once', async () => {
    const behaviour = { bootDelayMs: 1_500 };
    const { stubs } = await hostStubs({ a: { behaviour }, b: { behaviour } });
    const toA = callsAtOnce(stubs.a, 200);
    const toB = callsAtOnce(stubs.b, 50);
    for (const answer of [...(await toA.answers), ...(await toB.answers)]) expectRan(answer);
    expect(stubs.a.starts()).toHaveLength(1);
    expect(stubs.b.starts()).toHaveLength(1);
    expect(stubs.a.ranIds().toSorted()).toEqual(toA.requestIds.toSorted());
    expect(stubs.b.ranIds().toSorted()).toEqual(toB.requestIds.toSorted());
  });

  const failures: [string, StubBehaviour][] = [
    ['fails after a second', { bootFailure: { afterMs: 1_000 } }],
    ['dies between its listening line and its readiness', { dieAfterListeningMs: 250, readyDelayMs: 500 }],
  ];
  it.each(failures)('a start that %s: all 200 may try again, after one start', async (_, behaviour) => {
    const { stubs } = await hostStubs({ a: { behaviour, settings: NO_RESTART } });
    for (const answer of await callsAtOnce(stubs.a, 200).answers) expectTryAgain(answer);
    expect(stubs.a.starts()).toHaveLength(1);
    expect(stubs.a.runs()).toEqual([]);
    expect(stubs.a.events('early-call')).toEqual([]);
  });

  it('the listening line 500 ms before /readyz turns 200: no call is sent before', async () => {
    const { stubs } = await hostStubs({ a: { behaviour: { readyDelayMs: 500 } } });
    for (const answer of await callsAtOnce(stubs.a, 200).answers) expectRan(answer);
    const [ready] = stubs.a.events('ready');
    for (const run of stubs.a.runs()) expect(run.at).toBeGreaterThanOrEqual(ready?.at ?? Infinity);
    expect(stubs.a.events('early-call')).toEqual([]);
    expect(stubs.a.starts()).toHaveLength(1);
  });
});
