// What a start costs: `npm run bench:boot [-- --runs N]`. The same packs through our child and through the real Node
// service, the programs taking turns, so that whatever else the machine does hits all of them alike.
import { mkdtempSync, rmSync } from 'node:fs';
import { arch, cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { listCandidates } from './candidates.mjs';
import { canMeasure } from './cpu.mjs';
import { CALLS } from './packs.mjs';
import { findRealNodeService } from './peers.mjs';
import { startService } from './start.mjs';
import { median, table } from './table.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const child = join(process.env.PACKGATE_TEST_DIST ?? join(root, 'dist'), 'child', 'main.js');
const CALLS_EACH = 100;

const { values } = parseArgs({ options: { runs: { type: 'string', default: '9' } } });
const runs = Math.min(Math.max(Number(values.runs) || 9, 1), 50);
if (!canMeasure()) {
  console.error('bench:boot reads CPU times from /proc/PID/task/*/schedstat, which this system does not have');
  process.exit(1);
}

const work = mkdtempSync(join(tmpdir(), 'packgate-bench-'));

async function main() {
  const real = await findRealNodeService(root);
  const candidates = await listCandidates({ child, real, work });
  const results = new Map(candidates.map(({ name }) => [name, []]));
  for (let run = 0; run < runs; run += 1) {
    for (const { name, start } of candidates) results.get(name).push(await start());
  }
  printStarts(candidates, results);
  await printCalls(candidates.filter(({ service }) => service !== undefined));
  if (real.isFound) return;
  console.error(`\n!!! NOT COMPARED with the real Node service, which was not found: ${real.reason}\n`);
}

function printStarts(candidates, results) {
  const of = (name, moment, kind) => median(results.get(name).map((result) => result[moment]?.[kind] ?? Number.NaN));
  const reference = candidates.find(({ isReference }) => isReference)?.name;
  const ms = (value) => (Number.isNaN(value) ? '–' : value.toFixed(0));
  const rows = [
    ['ms, medians', 'listening CPU', 'wall', 'first answer CPU', 'wall', reference === undefined ? '' : 'CPU / real'],
  ];
  for (const { name } of candidates) {
    const cpu = of(name, 'answer', 'cpuMs');
    rows.push([
      name,
      ms(of(name, 'listening', 'cpuMs')),
      ms(of(name, 'listening', 'wallMs')),
      ms(cpu),
      ms(of(name, 'answer', 'wallMs')),
      reference === undefined ? '' : (cpu / of(reference, 'answer', 'cpuMs')).toFixed(2),
    ]);
  }
  const [{ model } = { model: 'unknown processor' }] = cpus();
  console.log(
    `From spawn, ${runs} runs, taking turns; ${cpus().length} × ${model.trim()}, ${arch()}\n\n${table(rows)}\n`,
  );
  console.log(
    'cold: an empty build folder; warm: the one that the pack was indexed with. CPU / real: the CPU time to the first\n' +
      'answer against that of the real service on its own Node.\n',
  );
}

/** Whether a first call costs what a later one costs: of a service just started, and of a tool nobody called before. */
async function printCalls(candidates) {
  const rows = [
    ['ms per call', 'first', `${CALLS_EACH}th`, 'ratio', 'first of a second tool', `${CALLS_EACH}th`, 'ratio'],
  ];
  for (const { name, service } of candidates) {
    const seen = { first: [], later: [], second: [], secondLater: [] };
    for (let run = 0; run < Math.min(runs, 5); run += 1) {
      const calls = [
        ...Array.from({ length: CALLS_EACH }, () => CALLS.echo),
        ...Array.from({ length: CALLS_EACH }, () => CALLS.search),
      ];
      const { latenciesMs } = await startService({ ...service, calls });
      seen.first.push(latenciesMs[0]);
      // The middle of the last ten: one call alone says little about calls of half a millisecond.
      seen.later.push(median(latenciesMs.slice(CALLS_EACH - 10, CALLS_EACH)));
      seen.second.push(latenciesMs[CALLS_EACH]);
      seen.secondLater.push(median(latenciesMs.slice(-10)));
    }
    const [first, later, second, secondLater] = Object.values(seen).map(median);
    const cells = [first, later, first / later, second, secondLater, second / secondLater];
    rows.push([name, ...cells.map((value) => value.toFixed(1))]);
  }
  console.log(`${table(rows)}\n`);
}

try {
  await main();
} finally {
  rmSync(work, { recursive: true, force: true });
}
