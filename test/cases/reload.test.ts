// Case 11: a reload replaces the child without a lost call, and a bad one changes nothing.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { order, rereadConfiguration, statusOf } from '../support/admin.ts';
import type { AdminAnswer } from '../support/admin.ts';
import { afterAllTests } from '../support/atEnd.ts';
import { expectRan, expectTenantMismatch, expectTryAgain } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStub, HostedStubs } from '../support/hostedStubs.ts';
import type { Answer } from '../support/http.ts';
import { callInFlight } from '../support/inFlight.ts';
import type { CallInFlight } from '../support/inFlight.ts';
import { processesMentioning } from '../support/processes.ts';

const LONG_CALL_MS = 20_000;
const CALL_EVERY_MS = 1_000 / 20;

/** Twenty calls a second; `stop` returns all their answers. */
function callSteadily(stub: HostedStub): { stop: () => Promise<Answer[]> } {
  const calls: Promise<Answer>[] = [];
  const timer = setInterval(() => calls.push(stub.invoke()), CALL_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return Promise.all(calls);
    },
  };
}

/** What happened to one tenant: calls all the time, one of them 20 s long, and its reloads. */
interface Reloaded {
  readonly orders: readonly AdminAnswer[];
  readonly long: CallInFlight;
  readonly stop: () => Promise<Answer[]>;
}

describe('case 11: reload', () => {
  const atEnd = afterAllTests();
  let hosted: HostedStubs<'a' | 'b' | 'c' | 'd'>;
  const reloaded: Partial<Record<'a' | 'b' | 'c' | 'd', Reloaded>> = {};

  const run = async (name: keyof typeof reloaded, reload: (stub: HostedStub) => Promise<AdminAnswer[]>) => {
    const stub = hosted.stubs[name];
    expectRan(await stub.invoke());
    const long = await callInFlight(stub, LONG_CALL_MS);
    const { stop } = callSteadily(stub);
    await delay(500);
    reloaded[name] = { orders: await reload(stub), long, stop };
  };

  const reloadOf = (stub: HostedStub): Promise<AdminAnswer> =>
    order(hosted.gateway, stub.tenantId, 'default', 'reload', { wait: true });

  /** The answers of all its calls, when the long one has ended; every one must have run, each once. */
  const endOf = async (name: keyof typeof reloaded): Promise<{ starts: number[]; longStart: number }> => {
    const it = reloaded[name];
    if (it === undefined) throw new Error(`${name} was not reloaded`);
    const longStart = expectRan(await it.long.answer).start;
    const answers = await it.stop();
    expect(answers.length).toBeGreaterThan(100);
    const starts = answers.map((answer) => expectRan(answer).start);
    const ran = hosted.stubs[name].ranIds();
    expect(new Set(ran).size).toBe(ran.length);
    return { starts, longStart };
  };

  // The four of them at the same time, each in a tenant of its own: every one needs its 20 s.
  beforeAll(async () => {
    hosted = await hostStubs(
      { a: {}, b: { settings: { bootTimeout: '2s' } }, c: {}, d: {} },
      { configuration: { defaults: { concurrency: 64 } } },
      atEnd,
    );
    await Promise.all([
      run('a', async (stub) => {
        stub.behave({ bootFailure: { exitCode: 1, problems: ['no such module x'] } });
        return [await reloadOf(stub)];
      }),
      run('b', async (stub) => {
        stub.behave({ readyDelayMs: 'never' });
        return [await reloadOf(stub)];
      }),
      run('c', async (stub) => [await reloadOf(stub)]),
      run('d', async (stub) => {
        stub.behave({ bootDelayMs: 600 });
        const first = reloadOf(stub);
        await delay(50);
        return Promise.all([first, reloadOf(stub)]);
      }),
    ]);
  });

  it.each([
    ['a', 'exits with 1', /no such module x/],
    ['b', 'listens and is never ready', /not ready/],
  ] as const)(
    '%s: to a pack that %s: the old child keeps serving, and the status says why',
    async (name, _, why) => {
      const { gateway, stubs } = hosted;
      const [refused] = reloaded[name]?.orders ?? [];
      expect(refused?.status).toBe(409);
      expect(JSON.stringify(refused?.json)).toMatch(why);
      const status = await statusOf(gateway, stubs[name].tenantId);
      expect(status).toMatchObject({ state: 'ready', serving: { pid: stubs[name].starts()[0]?.pid } });
      expect(status.reason?.message).toMatch(why);
      expect(status.boots[0]).toMatchObject({ cause: 'reload', outcome: 'failed' });
      const { starts, longStart } = await endOf(name);
      expect([new Set(starts), longStart]).toEqual([new Set([1]), 1]);
      expect(stubs[name].starts()).toHaveLength(2);
    },
    40_000,
  );

  it('c: to a good one: new calls go to the new child, the 20 s call ends on the old one with 200', async () => {
    const { gateway, stubs } = hosted;
    expect(reloaded.c?.orders.map(({ status }) => status)).toEqual([200]);
    expect(expectRan(await stubs.c.invoke()).start).toBe(2);
    const { starts, longStart } = await endOf('c');
    expect(longStart).toBe(1);
    // In order of their sending: from some call on all go to the new one.
    expect(starts).toEqual(starts.toSorted((x, y) => x - y));
    expect(starts.at(-1)).toBe(2);
    await until('the old one has left', () => stubs.c.events('stopped').some(({ start }) => start === 1));
    expect(stubs.c.events('signal').map(({ start, signal }) => [start, signal])).toEqual([[1, 'SIGTERM']]);
    expect((await statusOf(gateway, stubs.c.tenantId)).leaving).toEqual([]);
  }, 40_000);

  it('d: two reloads 50 ms apart: the last one wins, and one child is left', async () => {
    const { gateway, stubs } = hosted;
    expect(reloaded.d?.orders.at(-1)?.status).toBe(200);
    const { starts, longStart } = await endOf('d');
    const last = stubs.d.starts().length;
    expect(longStart).toBe(1);
    expect(new Set(starts)).toEqual(new Set([1, last]));
    const { pid } = stubs.d.starts().at(-1) ?? {};
    await until('one child is left', () => processesMentioning(stubs.d.folder).length === 1);
    expect((await statusOf(gateway, stubs.d.tenantId)).serving).toMatchObject({ pid });
  }, 40_000);
});

describe('case 11: reload of what does not serve', () => {
  it('e: while the tenant waits in its restart delay: the new pack is tried at once', async () => {
    const { gateway, stubs } = await hostStubs({
      e: { behaviour: { bootFailure: {} }, settings: { restart: { min: '60s', max: '60s' } } },
    });
    expectTryAgain(await stubs.e.invoke());
    expectTryAgain(await stubs.e.invoke(), 'cooling');
    expect((await statusOf(gateway, stubs.e.tenantId)).state).toBe('cooling');
    stubs.e.behave({});
    const from = performance.now();
    expect((await order(gateway, stubs.e.tenantId, 'default', 'reload', { wait: true })).status).toBe(200);
    expect(performance.now() - from).toBeLessThan(10_000);
    expect(expectRan(await stubs.e.invoke()).start).toBe(2);
  });

  it('f: the tenant is removed while its child boots and callers wait: they hear of it, and nothing is left', async () => {
    const { folder, gateway, stubs } = await hostStubs({ f: { behaviour: { bootDelayMs: 20_000 } }, other: {} });
    expectRan(await stubs.other.invoke());
    const waiting = Array.from({ length: 20 }, () => stubs.f.invoke());
    await until('the child boots', () => stubs.f.starts().length === 1);
    removeTenant(folder, stubs.f.tenantId);
    expect((await rereadConfiguration(gateway)).status).toBe(200);
    for (const answer of await Promise.all(waiting)) {
      if (answer.status === 421) expectTenantMismatch(answer);
      else expectTryAgain(answer);
    }
    await until('its child is gone', () => processesMentioning(stubs.f.folder).length === 0);
    expectTenantMismatch(await stubs.f.invoke());
    expect(stubs.f.starts()).toHaveLength(1);
    expect(expectRan(await stubs.other.invoke()).start).toBe(1);
  });
});

/** Writes the configuration anew without this tenant, whole or not at all. */
function removeTenant(folder: string, tenantId: string): void {
  const file = join(folder, 'packgate.yaml');
  const configuration = JSON.parse(readFileSync(file, 'utf8')) as { tenants: Record<string, unknown> };
  const tenants = Object.entries(configuration.tenants).filter(([id]) => id !== tenantId);
  writeFileSync(`${file}.new`, JSON.stringify({ ...configuration, tenants: Object.fromEntries(tenants) }));
  renameSync(`${file}.new`, file);
}
