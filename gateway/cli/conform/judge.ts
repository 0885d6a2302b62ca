import type { Clause } from '../../../shared/conform/clause.ts';
import { NotLookedAt } from '../../../shared/conform/notLookedAt.ts';
import { outcomeOf } from '../../../shared/conform/outcome.ts';
import type { Outcome } from '../../../shared/conform/outcome.ts';
import type { Service } from '../../../shared/conform/service.ts';
import type { LaunchedTarget } from './launchedTarget.ts';

/** One clause with what came of it. */
export interface Judged {
  readonly clause: Clause;
  readonly outcome: Outcome;
  /** Tools and checks of the conformance pack that it has called, or wanted to. */
  readonly needs: readonly string[];
  readonly ms: number;
}

/** One look at a service for one clause. */
export interface Look {
  run(): Promise<void>;
  needs(): readonly string[];
  /** Whether what it shares with other looks has lived through it. */
  isSharedWell(): Promise<boolean>;
  /** Ends what it started. */
  kill(): void;
}

/** Gives each clause its look at the service. */
export type LookFor = (clause: Clause) => Look;

export interface JudgeOptions {
  /** How many clauses are looked at at once. */
  readonly jobs: number;
  /** Longest time for one of them, in milliseconds. */
  readonly limitMs: number;
  /** Ends it early; its reason is a text, for those that were not looked at. */
  readonly signal: AbortSignal;
  readonly onJudged: (done: number) => void;
}

/** A service that can be started: everything is looked at. */
export function lookAtLaunched(target: LaunchedTarget): LookFor {
  return (clause) => {
    const place = target.forClause();
    return {
      run: async () => {
        if (clause.scope === 'http') await clause.run(await place.target.shared());
        else await clause.run(place.target);
      },
      needs: () => place.needs(),
      isSharedWell: () => place.isSharedWell(),
      kill: () => place.kill(),
    };
  };
}

/** A service that runs somewhere: its process is not seen. */
export function lookAtRunning(service: Service): LookFor {
  return (clause) => {
    const needed = new Set<string>();
    return {
      run: async () => {
        if (clause.scope === 'process')
          throw new NotLookedAt('a process is seen by whoever starts it: give its command');
        await clause.run({ ...service, onNeed: (id) => void needed.add(id) });
      },
      needs: () => [...needed],
      isSharedWell: () => Promise.resolve(true),
      kill: () => undefined,
    };
  };
}

/**
 * Judges all clauses, in their order, several at once. Never rejects. A clause that failed while the service it shared with
 * others died or hung is judged again, alone: only it can tell whose fault that was.
 */
export async function judgeAll(
  clauses: readonly Clause[],
  lookFor: LookFor,
  options: JudgeOptions,
): Promise<readonly Judged[]> {
  const judged = new Map<Clause, Judged>();
  const again: Clause[] = [];
  const waiting = [...clauses];
  const settle = (one: Judged): void => {
    judged.set(one.clause, one);
    options.onJudged(judged.size);
  };
  const work = async (): Promise<void> => {
    for (let clause = waiting.shift(); clause !== undefined; clause = waiting.shift()) {
      const { isSpoiled, ...one } = await judgeOne(clause, lookFor(clause), options);
      if (isSpoiled) again.push(clause);
      else settle(one);
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, work));
  for (const clause of again) {
    const { isSpoiled: _, ...one } = await judgeOne(clause, lookFor(clause), options);
    settle(one);
  }
  return clauses.flatMap((clause) => judged.get(clause) ?? []);
}

async function judgeOne(
  clause: Clause,
  look: Look,
  { limitMs, signal }: JudgeOptions,
): Promise<Judged & { readonly isSpoiled: boolean }> {
  const since = performance.now();
  const cut = cutShort(clause, { limitMs, signal });
  try {
    const outcome = await Promise.race([signal.aborted ? cut.early : outcomeOf(clause, () => look.run()), cut.early]);
    const isSpoiled = outcome.verdict === 'deviates' && !(await look.isSharedWell());
    return { clause, outcome, needs: look.needs(), ms: Math.round(performance.now() - since), isSpoiled };
  } finally {
    cut.clear();
    look.kill();
  }
}

/** What comes of a clause that takes too long, or for which there is no time left. */
function cutShort(
  { title }: Clause,
  { limitMs, signal }: Pick<JudgeOptions, 'limitMs' | 'signal'>,
): { readonly early: Promise<Outcome>; readonly clear: () => void } {
  let clear = (): void => undefined;
  const early = new Promise<Outcome>((resolve) => {
    const stop = (): void => resolve({ verdict: 'skipped', reason: String(signal.reason) });
    const late = (): void =>
      resolve({ verdict: 'deviates', expected: title, came: `no end after ${limitMs} ms`, isCheck: false });
    const timer = setTimeout(late, limitMs);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
    clear = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
  });
  return { early, clear };
}
