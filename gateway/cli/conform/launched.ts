import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Clause } from '../../../shared/conform/clause.ts';
import { get } from '../../../shared/conform/client/call.ts';
import { outcomeOf } from '../../../shared/conform/outcome.ts';
import type { Launch } from '../../supervisor/process.ts';
import { Watchdog } from '../../supervisor/watchdog.ts';
import { judgeAll, lookAtLaunched } from './judge.ts';
import type { Judged, JudgeOptions } from './judge.ts';
import { LaunchedTarget } from './launchedTarget.ts';
import { preparePack } from './prepare.ts';
import type { PackChoice } from './prepare.ts';

/** What is said where a service does not come up with the conformance pack: nothing else can be seen of it then. */
const STARTS = 'C14/listening';

/** How long processes that are left at the end may take to end by themselves. */
const LEAVE_MS = 2_000;

export interface LaunchOptions extends JudgeOptions {
  readonly choice: PackChoice;
  readonly cwd: string;
  readonly path: string | undefined;
  /** Is told what is worth knowing and no failure, a sentence each. */
  readonly warn: (text: string) => void;
}

/**
 * Judges the clauses by starting the command as often as they ask for it. Nothing of what was started is left when it settles,
 * however it ends; should this program be killed, its watchdog sees to that.
 * @throws {CommandError} when there is no pack to serve.
 */
export async function judgeCommand(clauses: readonly Clause[], options: LaunchOptions): Promise<readonly Judged[]> {
  const folder = await mkdtemp(join(tmpdir(), 'packgate-conform-'));
  const watchdog = new Watchdog({ path: options.path, stateDir: folder, log: pino({ level: 'silent' }) });
  await watchdog.open();
  try {
    return await judgeIn(folder, watchdog.launch, clauses, options);
  } finally {
    await watchdog.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function judgeIn(
  folder: string,
  launch: Launch,
  clauses: readonly Clause[],
  options: LaunchOptions,
): Promise<readonly Judged[]> {
  const { choice, cwd, path, signal, warn } = options;
  const pack = await preparePack(choice, { launch, folder, cwd, path, signal, warn });
  const target = new LaunchedTarget({ name: 'service', command: choice.command, pack, folder, launch, path, cwd });
  const stop = (): void => target.kill();
  signal.addEventListener('abort', stop);
  try {
    return (await failedStart(target, clauses, signal)) ?? (await judgeAll(clauses, lookAtLaunched(target), options));
  } finally {
    signal.removeEventListener('abort', stop);
    await end(target);
  }
}

/** What is to be told where the service does not even start; undefined: it does. */
async function failedStart(
  target: LaunchedTarget,
  clauses: readonly Clause[],
  signal: AbortSignal,
): Promise<readonly Judged[] | undefined> {
  const starts = clauses.find(({ id }) => id === STARTS) ?? clauses[0];
  if (starts === undefined) return [];
  const since = performance.now();
  const outcome = await outcomeOf(starts, async () => {
    // Whatever it answers: that there is somebody at the port it named.
    await get(await target.shared(), '/healthz');
  });
  // A start that was cut short is no finding: every clause says for itself that it was not looked at.
  if (outcome.verdict === 'holds' || signal.aborted) return undefined;
  const ms = Math.round(performance.now() - since);
  return clauses.map((clause) =>
    clause === starts
      ? { clause, outcome, needs: [], ms }
      : { clause, outcome: { verdict: 'skipped', reason: 'the service does not start' }, needs: [], ms: 0 },
  );
}

async function end(target: LaunchedTarget): Promise<void> {
  const timer = setTimeout(() => target.kill(), LEAVE_MS);
  await target.close();
  clearTimeout(timer);
}
