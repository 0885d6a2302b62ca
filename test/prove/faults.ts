import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AtEnd } from '../support/atEnd.ts';
import { info, invoke } from '../support/calls.ts';
import type { Endpoint } from '../support/calls.ts';
import { temporaryFolder, until } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import { seededRandom } from '../support/random.ts';
import type { Random } from '../support/random.ts';
import { createStubPack, STUB } from '../support/stubPack.ts';
import type { StubPack } from '../support/stubPack.ts';
import { defineProver, inScope } from './prover.ts';
import type { Finding, Stage } from './prover.ts';

const MAIN = join(
  process.env.PACKGATE_TEST_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url)),
  'gateway',
  'main.js',
);

/** Callers at once: enough to have the calls of all tenants arrive in another order each time. */
const CALLERS = 8;

/** What a `fault` does to a call, as its caller and the pack's own notes see it. */
const EFFECTS: Readonly<Record<string, { readonly status: string; readonly runs: boolean }>> = {
  '421': { status: '421', runs: false },
  '503': { status: '503 +Retry-After', runs: false },
  '503-without-retry-after': { status: '503', runs: false },
  '500': { status: '500', runs: true },
  late: { status: '200', runs: true },
  'half-answer': { status: 'cut', runs: true },
  cut: { status: 'cut', runs: true },
};

interface Met {
  readonly tenant: string;
  readonly tool: string | null;
  readonly n: number;
  readonly fault: string;
}

interface Run {
  readonly trace: string;
  readonly findings: readonly Finding[];
}

/** `npm run prove:faults`. */
export const prover = defineProver({
  promise:
    'Faults on order are deterministic: two runs with one seed make the same calls fail in the same way, whatever the order ' +
    'in which they arrive; and without --allow-faults a configuration with faults is refused whole.',
  options: {
    tenants: { default: 4, sets: 'tenants' },
    calls: { default: 150, sets: 'calls of each tenant' },
    seed: { default: 1, sets: 'which calls fail' },
  },
  run: async ({ tenants, calls, seed }, stage) => {
    const run = (order: number, withSeed: number): Promise<Run> =>
      inScope(stage, (atEnd) => runOnce({ tenants, calls, seed: withSeed, random: seededRandom(order) }, stage, atEnd));
    const [first, second, other] = [await run(1, seed), await run(2, seed), await run(3, seed + 1)];
    const findings = [...first.findings, ...second.findings, ...other.findings];
    if (first.trace !== second.trace)
      findings.push(`one seed, two traces: ${firstDifference(first.trace, second.trace)}`);
    if (first.trace === other.trace) findings.push('another seed gives the same trace');
    stage.print(`calls in a run: ${tenants * calls}, of them met a fault: ${metIn(first.trace).length}`);
    stage.print(`trace of two runs with seed ${seed}: ${first.trace === second.trace ? 'identical' : 'different'}`);
    const unrefused = await inScope(stage, (atEnd) => Promise.resolve(refusals(temporaryFolder(atEnd))));
    stage.print(`faults that a gateway without --allow-faults took: ${unrefused.length}`);
    return [...findings, ...unrefused];
  },
});

interface Plan {
  readonly tenants: number;
  readonly calls: number;
  readonly seed: number;
  /** Decides in which order the calls are made, and nothing else. */
  readonly random: Random;
}

async function runOnce({ tenants, calls, seed, random }: Plan, stage: Stage, atEnd: AtEnd): Promise<Run> {
  const folder = temporaryFolder(atEnd);
  const traceFile = join(folder, 'trace.jsonl');
  const names = Array.from({ length: tenants }, (_, at) => `tenant-${at}`);
  const packs = new Map(names.map((name) => [name, createStubPack(folder, name)]));
  const gateway = await startGateway(
    {
      folder,
      tenants: Object.fromEntries([...packs].map(([name, pack]) => [name, pack.deployment()])),
      configuration: { faults: faultRules(seed) },
      args: ['--allow-faults', '--fault-trace', traceFile],
    },
    atEnd,
  );
  const waiting = names
    .flatMap((name) => Array.from({ length: calls }, () => ({ name, at: random.fraction() })))
    .toSorted((a, b) => a.at - b.at);
  const seen = new Map<string, number>();
  // Until the start that fails is over: what a call meets then is not on order. To be asked who it is counts as no call.
  for (const name of names)
    await until(`${name} is up`, async () => (await info(gateway, name)).status === 200, 30_000);
  const caller = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined && !stage.signal.aborted; next = waiting.pop()) {
      const key = `${next.name} ${await statusOf(gateway, next.name)}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const { code } = await gateway.stop();
  const trace = readFileSync(traceFile, 'utf8');
  stage.progress(`a run with seed ${seed}: ${metIn(trace).length} faults`);
  const findings = [...packs].flatMap(([name, pack]) => judge(name, pack, calls, metIn(trace), seen));
  return { trace, findings: code === 0 ? findings : [...findings, `the gateway ended with ${code}`] };
}

/** Every kind of fault of a call, by number and by chance; a start that fails, so that starts are in the trace, too. */
function faultRules(seed: number): readonly object[] {
  const kinds = Object.keys(EFFECTS);
  const more = (fault: string): object => (fault === 'late' ? { fault, ms: 20 } : { fault });
  return [
    { tenant: 'tenant-0', nth: 1, fault: 'forged-line' },
    ...kinds.map((kind, at) => ({ tool: 'stub.act', nth: at + 2, ...more(kind) })),
    ...kinds.map((kind) => ({ probability: 0.05, seed, ...more(kind) })),
  ];
}

async function statusOf(gateway: Endpoint, tenant: string): Promise<string> {
  try {
    const { status, headers } = await invoke(gateway, tenant);
    return status === 503 && headers['retry-after'] !== undefined ? '503 +Retry-After' : String(status);
  } catch {
    return 'cut';
  }
}

/** Holds what callers saw and what the pack ran against what the trace says. */
function judge(
  tenant: string,
  pack: StubPack,
  calls: number,
  met: readonly Met[],
  seen: ReadonlyMap<string, number>,
): Finding[] {
  const own = met.filter((one) => one.tenant === tenant && one.tool !== null);
  const expected = new Map<string, number>();
  for (const { fault } of own) {
    const status = EFFECTS[fault]?.status ?? fault;
    expected.set(status, (expected.get(status) ?? 0) + 1);
  }
  const statuses = new Set(Object.values(EFFECTS).map(({ status }) => status));
  const count = (status: string): number => seen.get(`${tenant} ${status}`) ?? 0;
  const findings = [...statuses]
    .filter((status) => status !== '200')
    .filter((status) => count(status) !== (expected.get(status) ?? 0))
    .map(
      (status) =>
        `${tenant}: ${count(status)} calls were answered ${status}, on order were ${expected.get(status) ?? 0}`,
    );
  const refused = count('421') + count('503') + count('503 +Retry-After');
  const runs = pack.runs().length;
  if (runs !== calls - refused)
    findings.push(`${tenant}: ${runs} calls ran, ${calls} were made and ${refused} refused`);
  return findings;
}

/** Starts `serve` with every kind of fault, one at a time, without allowing it. Returns what was not refused. */
function refusals(folder: string): Finding[] {
  const kinds = [...Object.keys(EFFECTS), 'never-ready', 'forged-line'];
  createStubPack(folder, 'pack');
  mkdirSync(join(folder, 'state'), { recursive: true });
  return kinds.flatMap((fault) => {
    const file = join(folder, 'packgate.json');
    const pack = { pack: 'pack', runtime: 'command', command: [process.execPath, STUB] };
    const faults = [fault === 'late' ? { fault, ms: 1 } : { fault }];
    writeFileSync(
      file,
      JSON.stringify({
        listen: '127.0.0.1:0',
        stateDir: 'state',
        tokens: [{ env: 'T' }],
        tenants: { acme: pack },
        faults,
      }),
    );
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'serve', '-c', file], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, T: 'a-token-of-enough-characters' },
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    const isRefused = status === 78 && /: faults: expected .*--allow-faults/.test(stderr);
    return isRefused ? [] : [`${fault}: without --allow-faults it ended with ${status}: ${stderr.slice(0, 300)}`];
  });
}

function metIn(trace: string): Met[] {
  return trace
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Met);
}

function firstDifference(left: string, right: string): string {
  const [ours, theirs] = [left.split('\n'), right.split('\n')];
  const at = ours.findIndex((line, index) => line !== theirs[index]);
  return `line ${at + 1}: ${ours[at] ?? '(none)'} and ${theirs[at] ?? '(none)'}`;
}
