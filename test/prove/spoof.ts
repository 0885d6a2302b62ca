import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { invoke } from '../support/calls.ts';
import { closedPort, openDecoy } from '../support/decoy.ts';
import type { Decoy } from '../support/decoy.ts';
import { temporaryFolder } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { listeningSocketsOf } from '../support/processes.ts';
import { seededRandom } from '../support/random.ts';
import { createStubPack } from '../support/stubPack.ts';
import type { StubPack } from '../support/stubPack.ts';
import { forgeriesFor } from './forgeries.ts';
import type { Forgery } from './forgeries.ts';
import { defineProver, inScope } from './prover.ts';
import type { Finding } from './prover.ts';

const SPOOF = fileURLToPath(new URL('../fixtures/children/spoof.mjs', import.meta.url));

/** A start that waits for a dead port ends then. The others must not fail because this machine is busy. */
const BOOT_TIMEOUTS = { refused: '4s', right: '60s' } as const;

/** Calls to a pack after the start that decided about it: what holds for the first has to hold for the next. */
const MORE_CALLS = 3;

interface Outcome {
  readonly refused: number;
  readonly right: number;
  readonly findings: readonly Finding[];
}

/** `npm run prove:spoof`. */
export const prover = defineProver({
  promise:
    'A pack that prints false listening lines catches no call and no token: its start is refused, or its real port is kept; its neighbours notice nothing.',
  options: {
    rounds: { default: 3, sets: 'gateways, each with every forgery at once' },
    seed: { default: 1, sets: 'in which order the forgeries are started' },
  },
  run: async ({ rounds, seed }, stage) => {
    const random = seededRandom(seed);
    const findings: Finding[] = [];
    let [refused, right, decoyRequests, neighbourCalls] = [0, 0, 0, 0];
    for (let number = 1; number <= rounds && !stage.signal.aborted; number += 1) {
      await inScope(stage, async (atEnd) => {
        const decoy = await openDecoy(atEnd);
        const hosted = await hostForgeries(decoy.port, temporaryFolder(atEnd), (options) =>
          startGateway(options, atEnd),
        );
        const { gateway, packs, neighbour } = hosted;
        const watch = watchNeighbour(gateway, neighbour);
        const inOrder = packs.map((pack) => ({ pack, at: random.fraction() })).toSorted((a, b) => a.at - b.at);
        // Side by side, so that one's processes and ports are about while another's are judged.
        const outcomes = await Promise.all(inOrder.map(({ pack }) => judge(gateway, pack)));
        const watched = await watch.stop();
        findings.push(...outcomes.flatMap((outcome) => outcome.findings), ...watched.findings, ...caughtBy(decoy));
        refused += sum(outcomes.map((outcome) => outcome.refused));
        right += sum(outcomes.map((outcome) => outcome.right));
        decoyRequests += decoy.requests.length;
        neighbourCalls += watched.calls;
      });
      stage.progress(`round ${number}: ${findings.length} findings so far`);
    }
    stage.print(`starts with a forged line: refused ${refused}, served from the right port ${right}`);
    stage.print(`questions that reached the decoy: ${decoyRequests}, with a token: ${findings.filter(isToken).length}`);
    stage.print(`calls of the neighbour meanwhile: ${neighbourCalls}`);
    return findings;
  },
});

interface HostedForgery extends Forgery {
  readonly tenantId: string;
  readonly pack: StubPack;
}

interface Neighbour {
  readonly tenantId: string;
  readonly pack: StubPack;
}

/** One gateway with a tenant for each forgery, and one honest neighbour, which is up. */
async function hostForgeries(
  decoyPort: number,
  folder: string,
  start: (options: Parameters<typeof startGateway>[0]) => Promise<Gateway>,
) {
  const neighbour: Neighbour = { tenantId: randomUUID(), pack: createStubPack(folder, 'neighbour') };
  // The ports are known when the gateway is up; how many tenants there are, and what is expected of them, before.
  const hosts = forgeriesFor({ neighbour: 1, decoy: 1, gateway: 1, dead: 1 }).map(({ expected }, at) => {
    const pack = createStubPack(folder, `forgery-${at}`);
    const settings = { command: [process.execPath, SPOOF], bootTimeout: BOOT_TIMEOUTS[expected] };
    return { tenantId: randomUUID(), pack, entry: pack.deployment(settings) };
  });
  const gateway = await start({
    folder,
    tenants: Object.fromEntries([
      [neighbour.tenantId, neighbour.pack.deployment()],
      ...hosts.map(({ tenantId, entry }) => [tenantId, entry] as const),
    ]),
  });
  const up = await invoke(gateway, neighbour.tenantId);
  if (up.status !== 200) throw new Error(`the neighbour is not up: ${up.text}`);
  const [socket = ''] = listeningSocketsOf(neighbour.pack.starts().map(({ pid }) => pid));
  const ports = { neighbour: Number.parseInt(socket, 10), decoy: decoyPort, gateway: gateway.port };
  const forgeries = forgeriesFor({ ...ports, dead: await closedPort() });
  const packs = hosts.map(({ tenantId, pack }, at): HostedForgery => {
    return { tenantId, pack, ...(forgeries[at] as Forgery) };
  });
  for (const { pack, spoof } of packs) writeFileSync(join(pack.folder, 'spoof.json'), JSON.stringify(spoof));
  return { gateway, packs, neighbour };
}

/** Starts a pack by calling it, and looks at what became of the start and of the calls. */
async function judge(gateway: Gateway, hosted: HostedForgery): Promise<Outcome> {
  const { name, expected, tenantId, pack } = hosted;
  const findings: Finding[] = [];
  for (let call = 0; call <= MORE_CALLS; call += 1) {
    const answer = await invoke(gateway, tenantId);
    if (answer.status !== (expected === 'right' ? 200 : 503)) {
      findings.push(`${name}: expected it to be ${expected}, got ${answer.status} ${answer.text.slice(0, 200)}`);
    }
    if (answer.status !== 200) continue;
    const { pid } = answer.json.output as { pid: number };
    if (!pack.starts().some((start) => start.pid === pid)) findings.push(`${name}: process ${pid} of others answered`);
  }
  const isFailure: Parameters<Gateway['waitForRecord']>[0] = ({ event, tenant }) =>
    event === 'start-failed' && tenant === tenantId;
  if (expected === 'refused') await gateway.waitForRecord(isFailure);
  const failed = gateway.records.filter(isFailure);
  const codes = new Set(failed.map(({ code }) => code));
  if (expected === 'right' && codes.size > 0) findings.push(`${name}: a start failed: ${[...codes].join(', ')}`);
  if (expected === 'refused' && ![...codes].every((code) => code === 'proof-failed' || code === 'timeout')) {
    findings.push(`${name}: its start failed for another reason: ${[...codes].join(', ')}`);
  }
  if (expected === 'refused' && pack.runs().length > 0) findings.push(`${name}: it was refused and got a call`);
  return { refused: failed.length, right: expected === 'right' && findings.length === 0 ? 1 : 0, findings };
}

/** Calls it over and over. It must answer each time, as the same process, and hear of nobody but itself. */
function watchNeighbour(gateway: Gateway, { tenantId, pack }: Neighbour) {
  const findings: Finding[] = [];
  let calls = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const { status, text } = await invoke(gateway, tenantId);
      calls += 1;
      if (status !== 200) findings.push(`a call of the neighbour got ${status} ${text.slice(0, 200)}`);
      await pause(20);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await watching;
      if (pack.starts().length !== 1) findings.push(`the neighbour was started ${pack.starts().length} times`);
      const tokens = new Set(pack.runs().map(({ headers }) => headers['kindgi-pack-token']));
      const tenants = new Set(pack.runs().map((run) => run.tenantId));
      if (tokens.size !== 1) findings.push(`the neighbour was called with ${tokens.size} tokens`);
      if (tenants.size !== 1) findings.push(`the neighbour was called for ${tenants.size} tenants`);
      const questions = pack.events('request').filter(({ path }) => path === '/v1/info').length;
      // Its own proof asks three times; a proof of somebody else must not get as far as asking it.
      if (questions !== 3) findings.push(`the neighbour was asked for /v1/info ${questions} times, expected 3`);
      return { calls, findings };
    },
  };
}

const TOKEN_SEEN = 'the decoy was handed a token';

function isToken(finding: Finding): boolean {
  return finding.startsWith(TOKEN_SEEN);
}

/** A question whether it is ready is all that may reach a port that has shown nothing yet. */
function caughtBy({ requests }: Decoy): Finding[] {
  return requests.flatMap(({ path, headers }) => [
    ...(headers['kindgi-pack-token'] === undefined ? [] : [`${TOKEN_SEEN}, with ${path}`]),
    ...(path === '/readyz' ? [] : [`the decoy was asked for ${path}`]),
  ]);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
