import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { order } from '../support/admin.ts';
import { invoke } from '../support/calls.ts';
import { temporaryFolder } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { findRealServices, requiresRealServices } from '../support/realServices.ts';
import type { Random } from '../support/random.ts';
import { seededRandom } from '../support/random.ts';
import { percentile } from '../support/timing.ts';
import { defineProver } from './prover.ts';
import type { Finding, Stage } from './prover.ts';

const PACKS = fileURLToPath(new URL('../fixtures/packs/', import.meta.url));

/** How long an ordinary call takes at most; a swap must be felt by none of them. */
const ORDINARY_MS = 150;

/** One service that is swapped, as a deployment. */
interface Subject {
  readonly name: string;
  readonly tenantId: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

interface Sent {
  readonly id: string;
  readonly status: number | 'cut';
  readonly text: string;
  readonly ms: number;
}

/** `npm run prove:swap`. */
export const prover = defineProver({
  promise: 'An instance is replaced under load without a call that is lost, refused or run twice.',
  options: {
    swaps: { default: 100, sets: 'swaps of each service' },
    rate: { default: 200, sets: 'calls a second meanwhile' },
    longest: { default: 20_000, sets: 'how long the long calls among them take at most, in milliseconds' },
    services: {
      default: 'ours,node,python',
      sets: 'which services: our child, the real Node one, the real Python one',
    },
    seed: { default: 11, sets: 'how long calls take' },
  },
  run: async ({ swaps, rate, longest, services, seed }, stage) => {
    const folder = temporaryFolder(stage.atEnd);
    const { subjects, missing } = subjectsOf(services.split(','), folder);
    for (const reason of missing) stage.print(`SKIPPED: ${reason}`);
    const tenants = Object.fromEntries(subjects.map(({ tenantId, settings }) => [tenantId, settings]));
    const gateway = await startGateway({ folder, tenants }, stage.atEnd);
    const findings: Finding[] = requiresRealServices() ? [...missing] : [];
    for (const subject of subjects) {
      if (stage.signal.aborted) break;
      const file = join(folder, `${subject.name}.runs`);
      findings.push(...(await swapUnderLoad(subject, { gateway, file, swaps, rate, longest, seed }, stage)));
    }
    return findings;
  },
});

interface Load {
  readonly gateway: Gateway;
  readonly file: string;
  readonly swaps: number;
  readonly rate: number;
  readonly longest: number;
  readonly seed: number;
}

async function swapUnderLoad(subject: Subject, load: Load, stage: Stage): Promise<Finding[]> {
  const { gateway, file, swaps, rate, longest, seed } = load;
  const { name, tenantId } = subject;
  const random = seededRandom(seed);
  const call = (id: string, ms: number): Promise<Sent> => send(gateway, tenantId, { id, file, ms });
  const first = await call('first', 0);
  if (first.status !== 200) return [`${name}: the first call was answered ${first.status}: ${first.text}`];
  const stop = new AbortController();
  const ordinary = callSteadily(rate, random, call, stop.signal);
  const long = callLong(longest, random, call, stop.signal);
  const pids = new Set<string>();
  const findings: Finding[] = [];
  const swapMs: number[] = [];
  for (let swap = 1; swap <= swaps && !stage.signal.aborted; swap += 1) {
    const from = performance.now();
    // The pack is built anew every other time; what serves is another process every time.
    const { status, json } = await order(gateway, tenantId, 'default', swap % 2 === 0 ? 'reload' : 'restart', {
      wait: true,
    });
    swapMs.push(performance.now() - from);
    if (status !== 200) findings.push(`${name}: swap ${swap} failed: ${JSON.stringify(json)}`);
    if (swap % 20 === 0) stage.progress(`${name}: ${swap} swaps`);
  }
  stop.abort();
  const sent = [first, ...(await ordinary), ...(await long)];
  for (const { text } of sent) pids.add(/"pid":(\d+)/.exec(text)?.[1] ?? 'none');
  const runs = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  const ranTwice = runs.length - new Set(runs).size;
  const bad = sent.filter(({ status, text }) => status !== 200 || !text.includes('"kind":"result"'));
  const longCalls = sent.filter(({ id }) => id.startsWith('long'));
  const times = sent.filter(({ id }) => !id.startsWith('long')).map(({ ms }) => ms);
  stage.print(
    `${name}: ${swaps} swaps (median ${ms(percentile(swapMs, 0.5))}), ${sent.length} calls, ${longCalls.length} of them ` +
      `long (up to ${ms(Math.max(0, ...longCalls.map((each) => each.ms)))}), answered by ${pids.size} processes; ` +
      `p99 of the others ${ms(percentile(times, 0.99))}`,
  );
  stage.print(
    `${name}: non-200: ${bad.length}, ran twice: ${ranTwice}, never ran: ${sent.length - new Set(runs).size}`,
  );
  findings.push(...bad.map(({ id, status, text }) => `${name}: ${id} was answered ${status}: ${text.slice(0, 200)}`));
  if (ranTwice > 0) findings.push(`${name}: ${ranTwice} calls ran twice`);
  if (sent.length !== new Set(runs).size) findings.push(`${name}: ${sent.length} calls were sent, ${runs.length} ran`);
  if (pids.size < Math.min(swaps, 3))
    findings.push(`${name}: only ${pids.size} processes answered: nothing was swapped`);
  return findings;
}

/** So many calls a second until it is told to stop, whatever becomes of them. */
async function callSteadily(
  rate: number,
  random: Random,
  call: (id: string, ms: number) => Promise<Sent>,
  signal: AbortSignal,
): Promise<Sent[]> {
  const calls: Promise<Sent>[] = [];
  const from = performance.now();
  while (!signal.aborted) {
    const due = ((performance.now() - from) / 1000) * rate;
    while (calls.length < due) calls.push(call(`call-${calls.length}`, random.between(0, ORDINARY_MS)));
    await pause(5);
  }
  return Promise.all(calls);
}

/** One long call after the other. */
async function callLong(
  longest: number,
  random: Random,
  call: (id: string, ms: number) => Promise<Sent>,
  signal: AbortSignal,
): Promise<Sent[]> {
  const calls: Sent[] = [];
  while (!signal.aborted)
    calls.push(await call(`long-${calls.length}`, random.between(Math.round(longest / 2), longest)));
  return calls;
}

async function send(gateway: Gateway, tenantId: string, note: { id: string; file: string; ms: number }): Promise<Sent> {
  const from = performance.now();
  const input = { file: note.file, line: note.id, ms: note.ms };
  try {
    const { status, text } = await invoke(gateway, tenantId, { toolId: 'noting.note', input });
    return { id: note.id, status, text, ms: performance.now() - from };
  } catch (error) {
    return { id: note.id, status: 'cut', text: String(error), ms: performance.now() - from };
  }
}

/** The services that are asked for, each with a copy of the pack, and why some are not to be had. */
function subjectsOf(names: readonly string[], folder: string): { subjects: Subject[]; missing: string[] } {
  const real = findRealServices();
  const subjects: Subject[] = [];
  const missing: string[] = [];
  const add = (name: string, pack: string, settings: (path: string) => Readonly<Record<string, unknown>>): void => {
    const path = join(folder, name.replaceAll(' ', '-'));
    cpSync(join(PACKS, pack), path, { recursive: true });
    subjects.push({ name, tenantId: randomUUID(), settings: { pack: path, concurrency: 200, ...settings(path) } });
  };
  for (const name of names) {
    if (name === 'ours') add('our child', 'noting-js', () => ({}));
    else if (!real.isFound) missing.push(`the real ${name} service: ${real.reason}`);
    else if (name === 'python') add('real Python', 'noting-python', () => ({ python: real.python }));
    else if (name === 'node') {
      add('real Node', 'noting-js', (path) => {
        const [command, ...args] = real.nodeIndexer;
        const index = join(folder, 'real-node-index.json');
        execFileSync(command, [...args, '--pack-dir', path, '--output', index], { stdio: 'ignore' });
        return { index, runtime: 'command', command: real.nodeService };
      });
    } else throw new RangeError(`there is no service "${name}"; known: ours, node, python`);
  }
  return { subjects, missing };
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
