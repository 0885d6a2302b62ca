import { randomUUID } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { GatewayStatus } from '../../gateway/admin/host.ts';
import { askAdmin, order } from '../support/admin.ts';
import { invoke } from '../support/calls.ts';
import { temporaryFolder, until } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { childrenOf } from '../support/processes.ts';
import type { Random } from '../support/random.ts';
import { seededRandom } from '../support/random.ts';
import { defineProver } from './prover.ts';
import type { Finding, Stage } from './prover.ts';

const PACK = fileURLToPath(new URL('../fixtures/packs/noting-js', import.meta.url));

/** Instances come and go all the time. */
const IDLE = '3s';

/** Orders to swap, a second. */
const SWAPS_PER_SECOND = 0.2;

/** A heap that has been used is larger than a new one; one that grows for ten minutes is a leak. */
const MAX_GROWTH_BYTES = 48 * 1024 * 1024;

/** What the gateway has when it has nothing to do. */
interface AtRest {
  readonly memoryBytes: number;
  readonly descriptors: number;
  readonly timers: number;
  readonly handles: number;
  readonly processes: number;
}

/** `npm run prove:steady`. */
export const prover = defineProver({
  promise:
    'Memory, descriptors, timers and processes of a gateway are after ten minutes of calls what they were before.',
  options: {
    deployments: { default: 50, sets: 'deployments of our own child' },
    seconds: { default: 600, sets: 'how long calls are sent' },
    warmup: { default: 30, sets: 'how long calls are sent before the first look, in seconds' },
    rate: { default: 40, sets: 'calls a second' },
    seed: { default: 5, sets: 'which deployments are called and swapped, and how long calls take' },
  },
  run: async ({ deployments, seconds, warmup, rate, seed }, stage) => {
    const folder = temporaryFolder(stage.atEnd);
    const ids = Array.from({ length: deployments }, () => randomUUID());
    const tenants = ids.map((id, at) => {
      const pack = join(folder, `pack-${at}`);
      cpSync(PACK, pack, { recursive: true });
      return [id, { pack, idle: IDLE }] as const;
    });
    const gateway = await startGateway({ folder, tenants: Object.fromEntries(tenants) }, stage.atEnd);
    const random = seededRandom(seed);
    const file = join(folder, 'runs');
    const fresh = await restOf(gateway);
    const warm = await callFor(warmup, rate, { gateway, ids, random, file }, stage);
    const before = await restOf(gateway);
    const calls = await callFor(seconds, rate, { gateway, ids, random, file }, stage);
    const after = await restOf(gateway);
    stage.print(
      `${deployments} deployments, ${calls.sent} calls and ${calls.swaps} swaps in ${seconds} s (${warm.sent} calls before)`,
    );
    print('at the start, nothing called yet', fresh, stage);
    print('after the warm-up, at rest', before, stage);
    print('at the end, at rest', after, stage);
    return [...warm.findings, ...calls.findings, ...judge(before, after)];
  },
});

interface Scene {
  readonly gateway: Gateway;
  readonly ids: readonly string[];
  readonly random: Random;
  readonly file: string;
}

interface Called {
  readonly sent: number;
  readonly swaps: number;
  readonly findings: readonly Finding[];
}

async function callFor(seconds: number, rate: number, scene: Scene, { signal, progress }: Stage): Promise<Called> {
  const { gateway, ids, random, file } = scene;
  const findings: Finding[] = [];
  const underWay = new Set<Promise<void>>();
  const follow = (what: Promise<string | undefined>): void => {
    const done = what
      .then((finding) => void (finding !== undefined && findings.push(finding)))
      .finally(() => underWay.delete(done));
    underWay.add(done);
  };
  const from = performance.now();
  let sent = 0;
  let swaps = 0;
  for (let elapsed = 0; elapsed < seconds && !signal.aborted; elapsed = (performance.now() - from) / 1000) {
    for (; sent < elapsed * rate; sent += 1)
      follow(callOne(gateway, random.oneOf(ids), { file, line: String(sent), ms: random.between(0, 200) }));
    for (; swaps < elapsed * SWAPS_PER_SECOND; swaps += 1) follow(swapOne(gateway, random.oneOf(ids)));
    await pause(10);
    if (sent % (rate * 60) < rate / 50) progress(`${Math.round(elapsed)} s`);
  }
  await Promise.all(underWay);
  return { sent, swaps, findings };
}

async function callOne(gateway: Gateway, tenantId: string, input: object): Promise<string | undefined> {
  const { status, text } = await invoke(gateway, tenantId, { toolId: 'noting.note', input });
  return status === 200 ? undefined : `a call was answered ${status}: ${text}`;
}

async function swapOne(gateway: Gateway, tenantId: string): Promise<string | undefined> {
  const { status, json } = await order(gateway, tenantId, 'default', 'restart', { wait: true });
  // Two for one deployment at once: the newer one wins.
  return status === 200 || json.code === 'superseded'
    ? undefined
    : `a swap was answered ${status}: ${JSON.stringify(json)}`;
}

/** Waits until every instance has been stopped for want of calls, and looks at what the gateway still has. */
async function restOf(gateway: Gateway): Promise<AtRest> {
  await until(
    'every deployment is idle',
    async () => {
      const { json } = await askAdmin(gateway, 'GET', '/v1/deployments');
      const statuses = json.deployments as { state: string; leaving: unknown[] }[];
      return statuses.every(({ state, leaving }) => state === 'idle' && leaving.length === 0);
    },
    120_000,
  );
  // Connections to services and callers are closed a few seconds after their last use.
  await pause(6_000);
  const { json } = await askAdmin(gateway, 'GET', '/v1/gateway');
  const { memoryBytes, descriptors = 0, handles } = json as unknown as GatewayStatus;
  return {
    memoryBytes,
    descriptors,
    timers: (handles.Timeout ?? 0) + (handles.Immediate ?? 0),
    handles: Object.values(handles).reduce((sum, count) => sum + count, 0),
    processes: childrenOf(gateway.pid).length,
  };
}

function judge(before: AtRest, after: AtRest): Finding[] {
  const findings: Finding[] = [];
  for (const key of ['descriptors', 'timers', 'handles', 'processes'] as const) {
    // One more may be under way at the moment of looking.
    if (after[key] > before[key] + 1) findings.push(`${key}: ${before[key]} before, ${after[key]} after`);
  }
  if (after.memoryBytes > before.memoryBytes + MAX_GROWTH_BYTES) {
    findings.push(`memory grew by ${mebibytes(after.memoryBytes - before.memoryBytes)}`);
  }
  return findings;
}

function print(when: string, { memoryBytes, descriptors, timers, handles, processes }: AtRest, stage: Stage): void {
  stage.print(
    `${when}: ${mebibytes(memoryBytes)} resident, ${descriptors} descriptors, ${timers} timers, ${handles} handles, ` +
      `${processes} child processes (the watchdog is one)`,
  );
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
