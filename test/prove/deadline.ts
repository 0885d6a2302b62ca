import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { invoke, STUB_TOOL } from '../support/calls.ts';
import type { Endpoint } from '../support/calls.ts';
import { temporaryFolder } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import { createStubPack } from '../support/stubPack.ts';
import { percentile } from '../support/timing.ts';
import { defineProver } from './prover.ts';
import type { Finding, Stage } from './prover.ts';

/** What a call past its deadline is given to answer by itself; from then on it is the gateway's to answer. */
const GRACE_MS = 250;

/** More than that beyond deadline and grace is a finding; beside four busy processes on two cores. */
const MAX_OVERRUN_MS = 1_000;

/** A call without an answer for that long has none. */
const PATIENCE_MS = 20_000;

/** Calls that spin at once in one process. */
const AT_ONCE = 4;

/** Short enough that four in a row are no reason to give the process up, long enough to pass the deadline. */
const SHORT_SPIN_MS = 350;
const LONG_SPIN_MS = 600_000;

/** A pack service, and how its tools are called. */
interface Target {
  readonly name: string;
  readonly tenantId: string;
  readonly entry: Record<string, unknown>;
  readonly spin: (ms: number) => { toolId: string; input: unknown };
  readonly sleep: (ms: number) => { toolId: string; input: unknown };
}

interface Sent {
  /** Status, and the code of an error; `none` when no answer came. */
  readonly outcome: string;
  readonly tookMs: number;
}

/** `npm run prove:deadline`. */
export const prover = defineProver({
  promise: 'A call is answered at its deadline although its tool spins, and its neighbours do not pay for it.',
  options: {
    calls: { default: 200, sets: 'calls to tools that spin, half of them in the Node service of this project' },
    deadline: { default: 300, sets: 'their deadline in milliseconds' },
  },
  run: async ({ calls, deadline }, stage) => {
    const folder = temporaryFolder(stage.atEnd);
    const neighbour = { tenantId: randomUUID(), pack: createStubPack(folder, 'neighbour') };
    const targets = [stubTarget(folder), nodeTarget()];
    const entries = targets.map(({ tenantId, entry }) => [tenantId, entry] as const);
    const tenants = Object.fromEntries([...entries, [neighbour.tenantId, neighbour.pack.deployment()]]);
    const gateway = await startGateway({ folder, tenants }, stage.atEnd);

    const watch = watchNeighbour(gateway, neighbour.tenantId, stage);
    const found = await Promise.all(targets.map((target) => tryOut(gateway, target, calls / 2, deadline, stage)));
    return [...found.flat(), ...(await watch.end())];
  },
});

/** Rounds of spinning calls amid healthy ones: two in three spin for a while, the others for ever. */
async function tryOut(
  gateway: Endpoint,
  target: Target,
  calls: number,
  deadlineMs: number,
  stage: Stage,
): Promise<Finding[]> {
  const spun: Sent[] = [];
  const healthy: Record<'short' | 'endless', Sent[]> = { short: [], endless: [] };
  const findings: Finding[] = [];
  for (let round = 0; spun.length < calls && !stage.signal.aborted; round += 1) {
    if (!(await serves(gateway, target))) return [...findings, `${target.name}: does not serve any more`];
    const kind = round % 3 === 1 ? 'endless' : 'short';
    const resting = [1, 2].map(() => send(gateway, target, { ...target.sleep(400), timeoutMs: PATIENCE_MS }));
    // In the process before it is blocked: what is still in line would only wait for the next one.
    await pause(100);
    const spin = target.spin(kind === 'short' ? SHORT_SPIN_MS : LONG_SPIN_MS);
    const spinning = Array.from({ length: Math.min(AT_ONCE, calls - spun.length) }, () =>
      send(gateway, target, { ...spin, timeoutMs: deadlineMs }),
    );
    spun.push(...(await Promise.all(spinning)));
    healthy[kind].push(...(await Promise.all(resting)));
    stage.progress(`${target.name}: ${spun.length} of ${calls} calls`);
  }
  const overruns = spun.map(({ tookMs }) => tookMs - deadlineMs - GRACE_MS);
  const worst = Math.max(...overruns);
  stage.print(`${target.name}: ${spun.length} calls to a spinning tool: ${countText(spun)}`);
  stage.print(`${target.name}: worst answer ${Math.round(worst)} ms after the deadline and ${GRACE_MS} ms of grace`);
  stage.print(`${target.name}: healthy calls beside tools that spin for a while: ${countText(healthy.short)}`);
  stage.print(`${target.name}: healthy calls beside tools that spin for ever: ${countText(healthy.endless)}`);
  if (worst > MAX_OVERRUN_MS) findings.push(`${target.name}: a call was answered ${Math.round(worst)} ms late`);
  const isEnd = ({ outcome }: Sent): boolean => /^(?:200|503 queue-timeout)/.test(outcome);
  findings.push(...complaints(spun, isEnd, `${target.name}: a spinning call got`));
  findings.push(...complaints(healthy.short, ({ outcome }) => outcome === '200', `${target.name}: a healthy call got`));
  const hasAnswer = ({ outcome }: Sent): boolean => /^(?:200|500)/.test(outcome);
  findings.push(...complaints(healthy.endless, hasAnswer, `${target.name}: a call beside an endless one got`));
  return findings;
}

function complaints(calls: readonly Sent[], isFine: (sent: Sent) => boolean, text: string): Finding[] {
  const outcomes = new Set(calls.filter((sent) => !isFine(sent)).map(({ outcome }) => outcome));
  return [...outcomes].map((outcome) => `${text} ${outcome}`);
}

/** Waits until the target serves (again). */
async function serves(gateway: Endpoint, target: Target): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const { outcome } = await send(gateway, target, { ...target.sleep(1), timeoutMs: 5_000 });
    if (outcome === '200') return true;
    await pause(100);
  }
  return false;
}

async function send(
  gateway: Endpoint,
  { tenantId }: Pick<Target, 'tenantId'>,
  options: { toolId: string; input: unknown; timeoutMs: number },
): Promise<Sent> {
  const from = performance.now();
  const outcome = await invoke(gateway, tenantId, { ...options, signal: AbortSignal.timeout(PATIENCE_MS) }).then(
    ({ status, json: { code } }) => (typeof code === 'string' ? `${status} ${code}` : String(status)),
    () => 'none',
  );
  return { outcome, tookMs: performance.now() - from };
}

/** Calls another tenant without a pause until `end`, which prints how long its calls took and returns which failed. */
function watchNeighbour(gateway: Endpoint, tenantId: string, { print, signal }: Stage) {
  const calls: Sent[] = [];
  let isOver = false;
  const call = async (): Promise<void> => {
    while (!isOver && !signal.aborted) {
      calls.push(await send(gateway, { tenantId }, { toolId: STUB_TOOL, input: {}, timeoutMs: PATIENCE_MS }));
      await pause(5);
    }
  };
  const calling = call();
  return {
    end: async (): Promise<Finding[]> => {
      isOver = true;
      await calling;
      const times = calls.map(({ tookMs }) => tookMs);
      const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)].map((ms) => ms.toFixed(1));
      print(`a neighbour's ${calls.length} calls meanwhile: ${countText(calls)}; p50 ${p50} ms, p99 ${p99} ms`);
      return complaints(calls, ({ outcome }) => outcome === '200', 'a neighbour got');
    },
  };
}

function countText(calls: readonly Sent[]): string {
  const counts = new Map<string, number>();
  for (const { outcome } of calls) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} × ${outcome}`).join(', ');
}

/** It is to come back at once when it was given up, so that the next round does not wait. */
const SETTINGS = { restart: { min: '10ms', max: '100ms' } };

function stubTarget(folder: string): Target {
  return {
    name: 'stub',
    tenantId: randomUUID(),
    entry: createStubPack(folder, 'spinning').deployment(SETTINGS),
    spin: (ms) => ({ toolId: STUB_TOOL, input: { act: 'spin', ms } }),
    sleep: (ms) => ({ toolId: STUB_TOOL, input: { act: 'sleep', ms } }),
  };
}

function nodeTarget(): Target {
  const pack = fileURLToPath(new URL('../fixtures/packs/node-calls', import.meta.url));
  return {
    name: 'node',
    tenantId: randomUUID(),
    entry: { pack, runtime: 'node', ...SETTINGS },
    spin: (ms) => ({ toolId: 'calls.block', input: { ms } }),
    sleep: (ms) => ({ toolId: 'calls.sleep', input: { ms } }),
  };
}
