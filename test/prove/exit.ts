import { mkdirSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { AtEnd } from '../support/atEnd.ts';
import { invoke } from '../support/calls.ts';
import { temporaryFolder } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import {
  commandLineOf,
  killProcess,
  listeningSocketsOf,
  processesStartedIn,
  stillListening,
} from '../support/processes.ts';
import type { Random } from '../support/random.ts';
import { seededRandom } from '../support/random.ts';
import { createStubPack, STUB } from '../support/stubPack.ts';
import { defineProver, inScope } from './prover.ts';
import type { Finding, Stage } from './prover.ts';

/** Part of the promise: that long after the gateway was killed nothing of it is left. */
const GONE_WITHIN_MS = 1_000;

const FORKING = fileURLToPath(new URL('../fixtures/children/forking.sh', import.meta.url));

/** What the gateway is doing when it is killed. */
const SITUATIONS = ['just started', 'busy with starts', 'ready and busy', 'draining'] as const;
type Situation = (typeof SITUATIONS)[number];

interface Round {
  readonly situation: Situation;
  /** At the moment of the kill, the gateway and its watchdog not counted. */
  readonly processes: number;
  readonly ports: number;
  /** From the kill until the last of them was gone. */
  readonly goneAfterMs: number;
  readonly findings: readonly Finding[];
  readonly processesLeft: number;
  readonly portsLeft: number;
}

/** `npm run prove:exit`. */
export const prover = defineProver({
  promise: 'A gateway that is killed with SIGKILL leaves no process and no port behind one second later.',
  options: {
    rounds: { default: 50, sets: 'gateways that are started and killed' },
    seed: { default: 1, sets: 'which situations and moments are chosen' },
  },
  run: async ({ rounds, seed }, stage) => {
    const random = seededRandom(seed);
    const done: Round[] = [];
    for (let number = 1; number <= rounds && !stage.signal.aborted; number += 1) {
      const round = await inScope(stage, (atEnd) => killOne(random, atEnd));
      done.push(round);
      stage.progress(
        `round ${number}: ${round.situation}, ${round.processes} processes gone after ${round.goneAfterMs} ms`,
      );
    }
    printFigures(done, stage);
    return done.flatMap(({ findings }) => findings);
  },
});

async function killOne(random: Random, atEnd: AtEnd): Promise<Round> {
  const situation = random.oneOf(SITUATIONS);
  const folder = temporaryFolder(atEnd);
  // Before the gateway's own undoing, which only knows what has the folder in its command line.
  atEnd(() => processesStartedIn(folder).forEach(killProcess));
  const tenants = createTenants(folder);
  const gateway = await startGateway({ folder, tenants }, atEnd);
  const stopCalls = callEveryTenant(gateway, Object.keys(tenants));
  await reach(situation, gateway, random);
  const before = processesStartedIn(folder).filter((pid) => pid !== gateway.pid);
  const sockets = listeningSocketsOf(before);
  gateway.signal('SIGKILL');
  const killedAt = performance.now();
  stopCalls();
  let goneAfterMs = 0;
  while (performance.now() - killedAt < GONE_WITHIN_MS) {
    await pause(20);
    if (processesStartedIn(folder).length > 0) goneAfterMs = Math.round(performance.now() - killedAt);
  }
  const left = processesStartedIn(folder);
  const portsLeft = stillListening(sockets);
  const findings = [
    ...left.map((pid) => `${situation}: process ${pid} is left: ${commandLineOf(pid).join(' ').trim()}`),
    ...portsLeft.map((socket) => `${situation}: port ${socket} still listens`),
  ];
  left.forEach(killProcess);
  return {
    situation,
    processes: before.length,
    ports: sockets.length,
    goneAfterMs,
    findings,
    processesLeft: left.length,
    portsLeft: portsLeft.length,
  };
}

async function reach(situation: Situation, gateway: Gateway, random: Random): Promise<void> {
  // Starting them all takes about a second here.
  const moments = {
    'just started': [0, 150],
    'busy with starts': [150, 900],
    'ready and busy': [1_200, 1_600],
  } as const;
  const [from, to] = moments[situation === 'draining' ? 'ready and busy' : situation];
  await pause(random.between(from, to));
  if (situation !== 'draining') return;
  gateway.signal('SIGTERM');
  await pause(random.between(0, 300));
}

/** Packs that fork, work, boot, drain, index and crash without end when the gateway is killed. */
function createTenants(folder: string): Record<string, unknown> {
  const forking = createStubPack(folder, 'forking');
  const booting = createStubPack(folder, 'booting', { bootDelayMs: 60_000 });
  const stubborn = createStubPack(folder, 'stubborn', { onTerminate: 'ignore' });
  const crashing = createStubPack(folder, 'crashing', { bootFailure: {} });
  const entries = [
    forking.deployment({ command: ['sh', FORKING, process.execPath, STUB] }),
    booting.deployment(),
    stubborn.deployment({ command: ['sh', FORKING, process.execPath, STUB] }),
    crashing.deployment({ restart: { min: '20ms', max: '20ms' } }),
    { pack: createSlowlyIndexedPack(folder), runtime: 'node' },
  ];
  return Object.fromEntries(entries.map((entry) => [randomUUID(), entry]));
}

/** Indexing runs a pack's code; this one starts something and then takes its time. */
function createSlowlyIndexedPack(parent: string): string {
  const folder = join(parent, 'indexing');
  mkdirSync(join(folder, 'tools'), { recursive: true });
  writeFileSync(join(folder, 'kindgi.config.mjs'), "export default { pack: { id: 'indexing', version: '1.0.0' } };\n");
  const code = [
    "import { spawn } from 'node:child_process';",
    "spawn('sleep', ['300'], { stdio: 'inherit' });",
    'await new Promise((resolve) => setTimeout(resolve, 60_000));',
    'export default {};',
  ];
  writeFileSync(join(folder, 'tools', 'slow.mjs'), `${code.join('\n')}\n`);
  return folder;
}

/** One long call to each, again as soon as it is answered. Returns what ends that. */
function callEveryTenant(gateway: Gateway, tenantIds: readonly string[]): () => void {
  const stop = new AbortController();
  const call = async (tenantId: string): Promise<void> => {
    while (!stop.signal.aborted) {
      await invoke(gateway, tenantId, { input: { act: 'sleep', ms: 60_000 }, signal: stop.signal });
      await pause(10);
    }
  };
  // How a call ends whose gateway is killed is not what this is about.
  for (const tenantId of tenantIds) call(tenantId).catch(() => undefined);
  return () => stop.abort();
}

function printFigures(rounds: readonly Round[], { print }: Stage): void {
  const sum = (of: (round: Round) => number): number => rounds.reduce((total, round) => total + of(round), 0);
  for (const situation of SITUATIONS) {
    const those = rounds.filter((round) => round.situation === situation);
    const slowest = Math.max(0, ...those.map(({ goneAfterMs }) => goneAfterMs));
    print(`${situation}: ${those.length} rounds, all gone at the latest ${slowest} ms after the kill`);
  }
  print(`processes running at the kill: ${sum(({ processes }) => processes)}, ports: ${sum(({ ports }) => ports)}`);
  print(`processes left after ${GONE_WITHIN_MS} ms: ${sum(({ processesLeft }) => processesLeft)}`);
  print(`ports left after ${GONE_WITHIN_MS} ms: ${sum(({ portsLeft }) => portsLeft)}`);
}
