// Case 13: Ctrl+C to everybody, and a closed terminal.
import { describe, expect, it } from 'vitest';
import { expectRan } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import type { Gateway } from '../support/gateway.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { callInFlight, termsOf } from '../support/inFlight.ts';
import { processesMentioning } from '../support/processes.ts';

const ROUNDS = 3;

/** How SIGINT reaches the whole group that the gateway leads. */
const CTRL_C: [string, 'terminal' | 'group', (gateway: Gateway) => void][] = [
  ['typed into its terminal', 'terminal', ({ type }) => type('\x03')],
  ['sent to its process group', 'group', ({ pid }) => void process.kill(-pid, 'SIGINT')],
];

describe('case 13: signals of a terminal', () => {
  it.each(CTRL_C)(
    'a: Ctrl+C, %s: one termination signal for the child, its call is 200, a clean exit',
    async (_, as, interrupt) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { folder, gateway, stubs } = await hostStubs({ a: {} }, { as });
        const call = await callInFlight(stubs.a, 3_000);
        interrupt(gateway);
        await until('the child has heard of it', () => stubs.a.events('signal').length > 0);
        expectRan(await call.answer);
        expect(await gateway.exit).toEqual({ code: 0, signal: null });
        termsOf(stubs.a);
        expect(stubs.a.starts()).toHaveLength(1);
        const told = gateway.records.filter(({ event }) => event === 'instance-exited');
        expect(told.map(({ expected }) => expected)).toEqual([true]);
        expect(gateway.records.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
        expect(processesMentioning(folder)).toEqual([]);
      }
    },
    60_000,
  );

  it('b: SIGHUP to the gateway alone, with a terminal: a drain as on SIGTERM', async () => {
    const { folder, gateway, stubs } = await hostStubs({ a: {} }, { as: 'terminal' });
    const call = await callInFlight(stubs.a, 1_500);
    gateway.signal('SIGHUP');
    expectRan(await call.answer);
    expect(await gateway.exit).toEqual({ code: 0, signal: null });
    termsOf(stubs.a);
    expect(processesMentioning(folder)).toEqual([]);
  });

  it('b: SIGHUP to the gateway alone, without a terminal: it reads its configuration again, and nobody moves', async () => {
    const { gateway, stubs } = await hostStubs({ a: {} });
    const call = await callInFlight(stubs.a, 1_500);
    gateway.signal('SIGHUP');
    expectRan(await call.answer);
    expect(expectRan(await stubs.a.invoke()).start).toBe(1);
    expect(stubs.a.events('signal')).toEqual([]);
    expect(stubs.a.starts()).toHaveLength(1);
    expect((await gateway.stop()).code).toBe(0);
    termsOf(stubs.a);
  });

  it('b: a terminal that is gone: never a gateway that is gone while its children stay, or the other way round', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { folder, gateway, stubs } = await hostStubs({ a: {}, b: {} }, { as: 'terminal' });
      await callInFlight(stubs.a, 1_500);
      expectRan(await stubs.b.invoke());
      gateway.hangUp();
      await until(
        'each child has its signal',
        () => stubs.a.events('signal').length + stubs.b.events('signal').length === 2,
      );
      await until('everybody is gone', () => processesMentioning(folder).length === 0, 10_000);
      termsOf(stubs.a, stubs.b);
      // It had the time that its drain gives it, although nobody could read the log any more.
      expect(stubs.a.events('call-closed').map(({ wasAnswered }) => wasAnswered)).toEqual([true]);
    }
  }, 60_000);
});
