// A gateway that is killed with SIGKILL can tell nobody: its processes, and what they started, end all the same.
import { describe, expect, it } from 'vitest';
import { expectRan } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { childrenOf, commandLineOf, killProcess, processesMentioning } from '../support/processes.ts';

const ROUNDS = 5;

describe('a gateway that is killed', () => {
  it(`leaves no process behind one second later, ready, booting or started by a pack: ${ROUNDS} rounds`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { folder, gateway, stubs } = await hostStubs({
        forking: {},
        slow: { behaviour: { bootDelayMs: 60_000 } },
        busy: {},
      });
      expectRan(await stubs.forking.invoke({ input: { act: 'fork', mark: folder } }));
      for (const [stub, input] of [
        [stubs.slow, {}],
        [stubs.busy, { act: 'sleep', ms: 60_000 }],
      ] as const) {
        stub.invoke({ input }).catch(() => undefined);
        await until('it has started', () => stub.starts().length === 1);
      }
      await until('the busy one runs its call', () => stubs.busy.runs().length === 1);
      // The gateway, three services, and what one of them started.
      expect(processesMentioning(folder)).toHaveLength(5);
      gateway.signal('SIGKILL');
      await gateway.exit;
      await until('every process has ended', () => processesMentioning(folder).length === 0, 1_000);
    }
  }, 60_000);

  it('is watched again when its watchdog was ended', async () => {
    const { folder, gateway, stubs } = await hostStubs({ a: {} });
    expectRan(await stubs.a.invoke());
    const watchdogOf = (): number | undefined => childrenOf(gateway.pid).find((pid) => commandLineOf(pid)[0] === 'sh');
    const first = await until('the watchdog', watchdogOf);
    killProcess(first);
    await until('another watchdog', () => (watchdogOf() ?? first) !== first && watchdogOf(), 5_000);
    gateway.signal('SIGKILL');
    await gateway.exit;
    await until('every process has ended', () => processesMentioning(folder).length === 0, 1_000);
    expect(childrenOf(gateway.pid)).toEqual([]);
  });

  it('whose watchdog cannot be started serves all the same and says so', async () => {
    const { gateway, stubs } = await hostStubs({ a: {} }, { env: { PATH: '/nowhere' } });
    expectRan(await stubs.a.invoke());
    expect(await gateway.waitForRecord(({ event }) => event === 'watchdog-ended')).toMatchObject({ level: 'warn' });
  });
});
