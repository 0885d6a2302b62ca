import { setTimeout as pause } from 'node:timers/promises';
import { hostStubs } from '../support/hostedStubs.ts';
import { until } from '../support/files.ts';
import { defineProver } from './prover.ts';
import type { Finding, Stage } from './prover.ts';
import { Caller } from './turmoil/caller.ts';
import type { Attempt } from './turmoil/caller.ts';
import { cause } from './turmoil/faults.ts';
import type { Scene } from './turmoil/faults.ts';
import { planTurmoil } from './turmoil/plan.ts';
import type { Plan } from './turmoil/plan.ts';

const TENANTS = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

/** Calls on their way at once. */
const CALLERS = 48;

/** Settings that make everything happen often. */
const SETTINGS = {
  concurrency: 8,
  queue: { size: 40, wait: '5s' },
  restart: { min: '20ms', max: '300ms', healthy: '500ms' },
  idle: '2s',
};

/** `npm run prove:503`. */
export const prover = defineProver({
  promise: 'A call that is answered 503 did not run, and no call runs twice, whatever happens to the packs meanwhile.',
  options: {
    calls: { default: 100_000, sets: 'calls that are sent' },
    seed: { default: 7, sets: 'calls, faults and their order' },
  },
  run: async ({ calls, seed }, stage) => {
    const plan = planTurmoil(seed, calls, TENANTS.length);
    stage.print(`seed ${seed}, plan ${plan.hash}: ${plan.calls.length} calls, ${plan.faults.length} faults`);
    const tenants = Object.fromEntries(TENANTS.map((name) => [name, { settings: SETTINGS }]));
    const { folder, gateway, stubs } = await hostStubs(tenants, {}, stage.atEnd);
    const caller = new Caller(gateway);
    stage.atEnd(() => caller.close());
    const scene: Scene = { folder, gateway, stubs: TENANTS.map((name) => stubs[name]).filter(isThere), caller };
    const attempts = await perform(plan, scene, stage);
    // What an abandoned call started may still write its line.
    await until('no call is in flight any more', async () => (await gateway.stop()).code !== undefined, 30_000);
    return judge(attempts, scene, stage);
  },
});

/** Sends every call in the plan's order, with the faults between them. */
async function perform({ calls, faults }: Plan, scene: Scene, { signal, progress }: Stage): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  const underWay = new Set<Promise<void>>();
  let nextCall = 0;
  let nextFault = 0;
  const causeDue = (): void => {
    for (let fault = faults[nextFault]; fault !== undefined && fault.at <= nextCall; fault = faults[nextFault]) {
      nextFault += 1;
      const done = cause(fault, scene)
        .then((flood) => void attempts.push(...flood.flat()))
        .finally(() => underWay.delete(done));
      underWay.add(done);
    }
  };
  const work = async (): Promise<void> => {
    while (nextCall < calls.length && !signal.aborted) {
      causeDue();
      const number = nextCall;
      nextCall += 1;
      const call = calls[number];
      const stub = call && scene.stubs[call.tenant];
      if (call === undefined || stub === undefined) throw new RangeError(`there is no call ${number}`);
      attempts.push(...(await scene.caller.call(number, stub.tenantId, call)));
      if (number % 10_000 === 9_999) progress(`${number + 1} calls`);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, work));
  await Promise.all(underWay);
  await pause(100);
  return attempts;
}

function judge(attempts: readonly Attempt[], { gateway, stubs }: Scene, { print }: Stage): Finding[] {
  const runs = new Map<string, number>();
  for (const stub of stubs) for (const id of stub.ranIds()) runs.set(id, (runs.get(id) ?? 0) + 1);
  const refused = attempts.filter(({ status }) => status === 503);
  const refusedAndRan = refused.filter(({ requestId }) => runs.has(requestId));
  const ranTwice = [...callsOf(runs)].filter(([, times]) => times > 1);
  const unrun = attempts.filter(
    ({ status, requestId, code }) => status === 200 && code === undefined && !runs.has(requestId),
  );
  const untold = refused.filter(({ hasRetryAfter }) => !hasRetryAfter);
  const misled = attempts.filter(({ status, hasRetryAfter }) => status === 500 && hasRetryAfter);
  const odd = attempts.filter(({ status }) => ![200, 500, 503, 'cut', 'abandoned'].includes(status));
  const ledger = gateway.records.filter(
    ({ event, status, code, handedOver }) =>
      event === 'call' && status === 503 && code !== undefined && handedOver === 'yes',
  );
  print(`answers: ${countsOf(attempts.map(({ status }) => String(status)))}`);
  print(`codes of 503: ${countsOf(refused.map(({ code }) => code ?? "the pack's own"))}`);
  print(`answered 503: ${refused.length}; of these ran: ${refusedAndRan.length}`);
  print(`calls that ran: ${callsOf(runs).size}; of these twice: ${ranTwice.length}`);
  print(`503 by the gateway with a byte handed over, by its own log: ${ledger.length}`);
  return [
    ...refusedAndRan.map(({ requestId, code }) => `${requestId} was answered 503 (${code ?? 'no code'}) and ran`),
    ...ranTwice.map(([call, times]) => `call ${call} ran ${times} times`),
    ...unrun.map(({ requestId }) => `${requestId} was answered 200 and did not run`),
    ...untold.map(({ requestId }) => `${requestId} was answered 503 without Retry-After`),
    ...misled.map(({ requestId }) => `${requestId} was answered 500 with Retry-After`),
    ...odd.map(({ requestId, status }) => `${requestId} was answered ${status}`),
    ...ledger.map(({ requestId }) => `${String(requestId)}: the log says 503 and handed over`),
    ...(refused.length === 0 ? ['nothing was answered 503: the faults did not do their work'] : []),
  ];
}

/** Runs by call, however often it was sent. */
function callsOf(runs: ReadonlyMap<string, number>): Map<string, number> {
  const calls = new Map<string, number>();
  for (const [id, times] of runs) {
    const call = id.split('-')[0] ?? id;
    calls.set(call, (calls.get(call) ?? 0) + times);
  }
  return calls;
}

function countsOf(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const sorted = [...counts].toSorted(([a], [b]) => a.localeCompare(b));
  return sorted.length === 0 ? 'none' : sorted.map(([name, count]) => `${name} ${count}`).join(', ');
}

function isThere<T>(value: T | undefined): value is T {
  return value !== undefined;
}
