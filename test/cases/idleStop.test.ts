// Case 10: the idle stop against a new call.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { expectRan } from '../support/expectations.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStub } from '../support/hostedStubs.ts';
import { printFigures } from '../support/printFigures.ts';

/**
 * 500 rounds of a second, 20 in each of 25 tenants at the same time: in sequence they would take ten minutes. Every tenant
 * has its own place in the spread, so that together they cover it as finely as one tenant's 500 rounds would.
 */
const TENANTS = 25;
const ROUNDS = 20;

const IDLE_MS = 1_000;
const SPREAD_MS = 20;

/** Each call so long after the previous one's answer: evenly from `IDLE_MS - 20` to `IDLE_MS + 20`. */
async function callAroundTheStop(stub: HostedStub, place: number): Promise<string[]> {
  const requestIds: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const requestId = randomUUID();
    requestIds.push(requestId);
    expectRan(await stub.invoke({ requestId }));
    const share = (round * TENANTS + place) / (ROUNDS * TENANTS - 1);
    await delay(IDLE_MS - SPREAD_MS + 2 * SPREAD_MS * share);
  }
  return requestIds;
}

/** Most processes of it that ran at once, and of those how many did not leave. */
function mostAtOnce(stub: HostedStub): { running: number; serving: number } {
  const leaving = new Map(stub.events('signal').map(({ start, at }) => [start, at]));
  const gone = new Map(stub.events('stopped').map(({ start, at }) => [start, at]));
  const started = stub.starts().map(({ at }, place) => ({ at, start: place + 1 }));
  const counts = started.map(({ at }) => {
    const running = started.filter((other) => other.at <= at && (gone.get(other.start) ?? Infinity) > at);
    return {
      running: running.length,
      serving: running.filter(({ start }) => (leaving.get(start) ?? Infinity) > at).length,
    };
  });
  return {
    running: Math.max(...counts.map(({ running }) => running)),
    serving: Math.max(...counts.map(({ serving }) => serving)),
  };
}

describe('case 10: the idle stop against a new call', () => {
  it('500 rounds: 500 × 200, each call run once, never more than one serving and one leaving child', async () => {
    // Leaves as slowly as a real service: a call that was sent to it meanwhile would be refused.
    const tenant = { behaviour: { leaveDelayMs: 150 }, settings: { idle: `${IDLE_MS}ms` } };
    const names = Array.from({ length: TENANTS }, (_, place) => `tenant-${place}`);
    const { gateway, stubs } = await hostStubs(Object.fromEntries(names.map((name) => [name, tenant])));
    const all = names.map((name) => stubs[name] as HostedStub);
    // Up first: 25 boots at once are not what the rounds are about.
    for (const stub of all) expectRan(await stub.invoke({ requestId: 'first' }));
    const called = await Promise.all(all.map(callAroundTheStop));

    const starts = all.reduce((sum, stub) => sum + stub.starts().length, 0);
    printFigures(`case 10: ${TENANTS * ROUNDS} rounds, ${starts} starts`);
    all.forEach((stub, place) => {
      expect(stub.ranIds()).toEqual(['first', ...(called[place] ?? [])]);
      const { running, serving } = mostAtOnce(stub);
      expect(serving).toBe(1);
      expect(running).toBeLessThanOrEqual(2);
    });
    // The stop came before the call in some of the rounds, or it would not have been tried.
    expect(starts).toBeGreaterThan(TENANTS * 2);
    expect(gateway.records.filter(({ status }) => Number(status) >= 500)).toEqual([]);
  }, 180_000);
});
