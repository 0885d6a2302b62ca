import { setTimeout as pause } from 'node:timers/promises';
import { invoke } from '../support/calls.ts';
import { packsFolder, startDevLoop } from '../support/devLoop.ts';
import type { RunningLoop } from '../support/devLoop.ts';
import { createPythonPack, createTypeScriptPack } from '../support/devPacks.ts';
import type { DevPack } from '../support/devPacks.ts';
import { temporaryFolder, until } from '../support/files.ts';
import { listeningSocketsOf, processesStartedIn, stillListening } from '../support/processes.ts';
import { findRealServices } from '../support/realServices.ts';
import { percentile } from '../support/timing.ts';
import { defineProver, inScope } from './prover.ts';
import type { Finding, Stage } from './prover.ts';

/** Part of the promise, for a small TypeScript pack; a median. */
const GOAL_MS = 300;

/** How often is asked for the new answer: the figures are that exact. */
const ASK_EVERY_MS = 5;

/** What a developed pack is known by. */
interface Developed {
  readonly pack: DevPack;
  readonly tenantId: string;
}

/** `npm run prove:dev`. */
export const prover = defineProver({
  promise:
    'What is saved in a small TypeScript pack serves within 300 ms (median); a broken save keeps the old answer and shows its place; a loop that ends, or is killed, leaves nothing.',
  options: {
    saves: { default: 20, sets: 'saves of each pack' },
    pause: { default: 1000, sets: 'milliseconds between the answer to a save and the next one' },
    goal: { default: GOAL_MS, sets: 'median that is promised for TypeScript, in milliseconds; 0: none' },
  },
  run: async ({ saves, pause: pauseMs, goal }, stage) => {
    const findings: Finding[] = [];
    const kinds = ['TypeScript', 'Python'] as const;
    for (const kind of kinds) {
      const real = findRealServices();
      if (kind === 'Python' && !real.isFound) {
        stage.print(`Python: not measured, ${real.reason}`);
        continue;
      }
      findings.push(...(await inScope(stage, (atEnd) => author({ kind, saves, pauseMs, goal }, { ...stage, atEnd }))));
    }
    findings.push(...(await inScope(stage, (atEnd) => kill({ ...stage, atEnd }))));
    return findings;
  },
});

interface Round {
  readonly kind: 'TypeScript' | 'Python';
  readonly saves: number;
  readonly pauseMs: number;
  readonly goal: number;
}

/** An author's session on a terminal: saves, a mistake, its mending, Ctrl+C. */
async function author({ kind, saves, pauseMs, goal }: Round, stage: Stage): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { folder, loop, developed } = await start(kind, stage);
  const times: number[] = [];
  for (let version = 1; version <= saves && !stage.signal.aborted; version += 1) {
    const from = performance.now();
    developed.pack.save(version);
    await until(
      `version ${version} serves`,
      async () => {
        const isNew = (await answerOf(loop, developed)) === version;
        if (!isNew) await pause(ASK_EVERY_MS);
        return isNew;
      },
      30_000,
    );
    times.push(performance.now() - from);
    await pause(pauseMs);
  }
  const median = percentile(times, 0.5);
  stage.print(`${kind}: save to served, ${times.length} saves: ${figures(times)}`);
  if (kind === 'TypeScript' && goal > 0 && median > goal)
    findings.push(`${kind}: save to served takes ${Math.round(median)} ms (median), promised are ${goal} ms`);

  const shown = loop.output().length;
  developed.pack.breakIt();
  const [, place] = await loop.waitForText(
    /broken: the last good build goes on serving.*\n.* {2}(\S+:\d+(?::\d+)?): /,
    shown,
  );
  const answer = await answerOf(loop, developed);
  stage.print(`${kind}: a syntax error is shown at ${place}; the answer is that of save ${String(answer)} of ${saves}`);
  if (place?.startsWith(developed.pack.broken) !== true)
    findings.push(`${kind}: the syntax error of ${developed.pack.broken} is shown at ${place}`);
  if (answer !== saves) findings.push(`${kind}: with a broken save the answer is ${String(answer)}, not ${saves}`);
  developed.pack.save('mended');
  await loop.waitForText(/mended, served after/, shown);

  const processes = processesStartedIn(folder);
  const sockets = listeningSocketsOf(processes);
  loop.type('\x03');
  const { code } = await loop.exit;
  const left = processesStartedIn(folder);
  const ports = stillListening(sockets);
  stage.print(
    `${kind}: Ctrl+C ended ${processes.length} processes with ${sockets.length} ports: exit code ${code}, left: ${left.length} processes, ${ports.length} ports`,
  );
  if (code !== 0) findings.push(`${kind}: Ctrl+C ends with exit code ${code}`);
  findings.push(...left.map((pid) => `${kind}: process ${pid} is left after Ctrl+C`));
  findings.push(...ports.map((port) => `${kind}: port ${port} still listens after Ctrl+C`));
  return findings;
}

/** A loop that is killed with SIGKILL, and the next one. */
async function kill(stage: Stage): Promise<Finding[]> {
  const { folder, loop, developed } = await start('TypeScript', stage);
  const processes = processesStartedIn(folder).filter((pid) => pid !== loop.pid);
  const sockets = listeningSocketsOf(processes);
  loop.signal('SIGKILL');
  await loop.exit;
  const next = await startDevLoop({ folder, as: 'terminal' }, stage.atEnd);
  await next.waitForText(/✓ serves/);
  const left = processesStartedIn(folder).filter((pid) => processes.includes(pid));
  const ports = stillListening(sockets);
  const answer = await answerOf(next, developed);
  stage.print(
    `SIGKILL: of ${processes.length} processes and ${sockets.length} ports, left when the next loop serves: ${left.length} and ${ports.length}`,
  );
  return [
    ...left.map((pid) => `process ${pid} of the killed loop is left`),
    ...ports.map((port) => `port ${port} of the killed loop still listens`),
    ...(answer === 0 ? [] : [`the next loop answers ${String(answer)}, not 0`]),
  ];
}

async function start(
  kind: Round['kind'],
  stage: Stage,
): Promise<{ folder: string; loop: RunningLoop; developed: Developed }> {
  const folder = temporaryFolder(stage.atEnd);
  const pack = (kind === 'Python' ? createPythonPack : createTypeScriptPack)(packsFolder(folder), 'billing');
  const real = findRealServices();
  const python = kind === 'Python' && real.isFound ? ['--python', real.python] : [];
  const args = [packsFolder(folder), '--port', '0', ...python];
  const loop = await startDevLoop({ folder, args, as: 'terminal' }, stage.atEnd);
  const [, tenantId = ''] = await loop.waitForText(/--tenant (\S+)/);
  stage.progress(`${kind}: a loop on ${loop.address}`);
  return { folder, loop, developed: { pack, tenantId } };
}

async function answerOf(loop: RunningLoop, { pack, tenantId }: Developed): Promise<unknown> {
  const { json, text } = await invoke(loop, tenantId, { toolId: pack.toolId });
  return (json.output as { answer?: unknown } | undefined)?.answer ?? text;
}

function figures(times: readonly number[]): string {
  const at = (share: number): string => `${Math.round(percentile(times, share))} ms`;
  return `median ${at(0.5)}, 90 % ${at(0.9)}, fastest ${at(0)}, slowest ${Math.round(Math.max(...times))} ms`;
}
