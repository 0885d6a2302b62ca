// Case 3: what a pack has started keeps its output open, or would outlive it.
import { describe, expect, it } from 'vitest';
import { order } from '../support/admin.ts';
import { expectRan, expectTryAgain } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStub } from '../support/hostedStubs.ts';
import { processesStartedIn } from '../support/processes.ts';
import { STUB } from '../support/stubPack.ts';

const ROUNDS = 5;
const IDLE_MS = 400;

/** A shell that stays, and leads the group of the service it started. */
const WRAPPED = ['sh', '-c', '"$0" "$@"; exit $?', process.execPath, STUB];

/** One answered call, after which a shell and its sleeper hold the service's outputs. */
async function startSleeper(stub: HostedStub): Promise<number> {
  const { start } = expectRan(await stub.invoke({ input: { act: 'fork', mark: stub.folder } }));
  await until('the sleeper runs', () => processesStartedIn(stub.folder).length >= 3);
  return start;
}

describe('case 3: a grandchild keeps the pipe open, or outlives the stop', () => {
  it(`a) the death of its service is noticed within 1 s, ${ROUNDS} times`, async () => {
    const { stubs } = await hostStubs({ a: {} });
    const stub = stubs.a;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const start = await startSleeper(stub);
      const sleepers = processesStartedIn(stub.folder).filter((pid) => pid !== stub.starts().at(-1)?.pid);
      expectRan(await stub.invoke({ input: { act: 'exit', code: 1 } }));
      const answered = stub.invoke();
      // Noticed is a next start, or an answer; how long a start takes here is another matter.
      const started = until('the next start', () => stub.starts().length > start, 1_000);
      await Promise.race([answered, started]);
      const next = await answered;
      if (next.status === 503) expectTryAgain(next);
      const served = await until('it is served again', async () => {
        const answer = next.status === 200 ? next : await stub.invoke();
        return answer.status === 200 && answer;
      });
      expect(expectRan(served).start).toBe(start + 1);
      await until(
        'the sleeper is gone with its service',
        () => !processesStartedIn(stub.folder).some((pid) => sleepers.includes(pid)),
        1_000,
      );
    }
  });

  it.each([
    ['b) its tenant is stopped', {}],
    ['d) the same where the command is a shell around the service', { command: WRAPPED }],
  ])(`%s: nothing of its group is left, and it takes no longer, ${ROUNDS} times`, async (_, settings) => {
    const { gateway, stubs } = await hostStubs({ a: { settings } });
    const tell = async (name: 'stop' | 'start'): Promise<void> => {
      const { status, json } = await order(gateway, stubs.a.tenantId, 'default', name, { wait: true });
      expect({ status, json }).toMatchObject({ status: 200 });
    };
    for (let round = 1; round <= ROUNDS; round += 1) {
      await startSleeper(stubs.a);
      const from = performance.now();
      await tell('stop');
      expect(performance.now() - from).toBeLessThan(1_000);
      expect(processesStartedIn(stubs.a.folder)).toEqual([]);
      expectTryAgain(await stubs.a.invoke(), 'stopped');
      await tell('start');
    }
  });

  it(`the same when it is stopped because it is idle, ${ROUNDS} times`, async () => {
    const idle = { idle: `${IDLE_MS}ms` };
    const { stubs } = await hostStubs({
      plain: { settings: idle },
      wrapped: { settings: { ...idle, command: WRAPPED } },
    });
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const stub of [stubs.plain, stubs.wrapped]) {
        expect(await startSleeper(stub)).toBe(round);
        await until('nothing is left', () => processesStartedIn(stub.folder).length === 0, IDLE_MS + 1_000);
      }
    }
  });

  it(`c) the gateway gets SIGTERM: nothing is left, and it takes no longer, ${ROUNDS} times`, async () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { gateway, stubs } = await hostStubs({ plain: {}, wrapped: { settings: { command: WRAPPED } } });
      await Promise.all([startSleeper(stubs.plain), startSleeper(stubs.wrapped)]);
      const from = performance.now();
      expect(await gateway.stop()).toEqual({ code: 0, signal: null });
      expect(performance.now() - from).toBeLessThan(1_000);
      for (const stub of [stubs.plain, stubs.wrapped]) expect(processesStartedIn(stub.folder)).toEqual([]);
    }
  }, 60_000);
});
