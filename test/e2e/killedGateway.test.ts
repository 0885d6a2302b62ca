// A gateway that is killed with SIGKILL can tell nobody: its processes, and what they started, end all the same.
import { describe, expect, it } from 'vitest';
import { expectRan } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { startGateway } from '../support/gateway.ts';
import { invoke } from '../support/calls.ts';
import {
  childrenOf,
  commandLineOf,
  killProcess,
  processesMentioning,
  processesStartedIn,
} from '../support/processes.ts';

const ROUNDS = 5;

function watchdogOf(gatewayPid: number): number | undefined {
  return childrenOf(gatewayPid).find((pid) => commandLineOf(pid).includes('packgate-watchdog'));
}

/** A gateway with one tenant, and how another one is started in its state folder. */
async function hostRestartable() {
  const hosted = await hostStubs({ a: {} });
  const { folder, stubs } = hosted;
  const restart = () => startGateway({ folder, tenants: { [stubs.a.tenantId]: stubs.a.deployment() } });
  return { ...hosted, restart };
}

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
    const first = await until('the watchdog', () => watchdogOf(gateway.pid));
    killProcess(first);
    await until('another watchdog', () => (watchdogOf(gateway.pid) ?? first) !== first, 5_000);
    gateway.signal('SIGKILL');
    await gateway.exit;
    await until('every process has ended', () => processesMentioning(folder).length === 0, 1_000);
    expect(childrenOf(gateway.pid)).toEqual([]);
  });

  it(`with its watchdog takes every service along, and the next one ends the rest: ${ROUNDS} rounds`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { folder, gateway, stubs, restart } = await hostRestartable();
      expectRan(await stubs.a.invoke({ input: { act: 'fork', mark: folder } }));
      await until('what it forks runs', () => processesStartedIn(stubs.a.folder).length === 3);
      const service = stubs.a.starts()[0]?.pid ?? 0;
      killProcess(await until('the watchdog', () => watchdogOf(gateway.pid)));
      gateway.signal('SIGKILL');
      await gateway.exit;
      // The parent-death signal reaches the service alone.
      await until('the service has ended', () => !processesStartedIn(folder).includes(service), 1_000);
      const rest = processesStartedIn(folder);
      expect(rest).toHaveLength(2);
      const next = await restart();
      const swept = await next.waitForRecord(({ event }) => event === 'leftovers-ended');
      const { processes } = swept as unknown as { processes: { pid: number; tenant: string }[] };
      expect(new Set(processes.map(({ pid }) => pid))).toEqual(new Set(rest));
      expect(new Set(processes.map(({ tenant }) => tenant))).toEqual(new Set([stubs.a.tenantId]));
      expect(processesStartedIn(stubs.a.folder)).toEqual([]);
      expect((await next.stop()).code).toBe(0);
    }
  }, 60_000);

  it('is no reason for its services to end while it lives, and none is left to be swept after a clean stop', async () => {
    const { stubs, gateway, restart } = await hostRestartable();
    const { start } = expectRan(await stubs.a.invoke());
    // Threads of the gateway come and go with its file and name look-ups; its services do not.
    for (let call = 0; call < 50; call += 1) expect(expectRan(await stubs.a.invoke()).start).toBe(start);
    expect((await gateway.stop()).code).toBe(0);
    const next = await restart();
    expectRan(await invoke(next, stubs.a.tenantId));
    expect(next.records.filter(({ event }) => String(event).startsWith('leftovers'))).toEqual([]);
  });

  it('whose watchdog cannot be started serves all the same and says so', async () => {
    const { gateway, stubs } = await hostStubs({ a: {} }, { env: { PATH: '/nowhere' } });
    expectRan(await stubs.a.invoke());
    expect(await gateway.waitForRecord(({ event }) => event === 'watchdog-ended')).toMatchObject({ level: 'warn' });
  });
});
