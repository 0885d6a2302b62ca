import assert from 'node:assert/strict';
import { outcomeOf } from '../../shared/conform/outcome.ts';
import { describe, expect, test } from 'vitest';
import type { Clause } from '../../shared/conform/clause.ts';
import { CLAUSES } from '../../shared/conform/clauses.ts';
import { afterAllTests } from '../support/atEnd.ts';
import { requiresRealServices } from '../support/realServices.ts';
import { DEVIATIONS, deviationOf } from './deviations.ts';
import type { Deviation } from './deviations.ts';
import { directTargetOf } from './directTarget.ts';
import type { DirectTarget } from './directTarget.ts';
import { HostedPacks } from './hostedPacks.ts';
import { DIRECT, programOf } from './programs.ts';
import type { DirectName, Program, TargetName } from './programs.ts';

/** What is started once, when the first clause needs it, and ended at the end. */
const directTargets = new Map<DirectName, Promise<DirectTarget>>();
let hostedPacks: Promise<HostedPacks> | undefined;
const atEnd = afterAllTests();
// Undone last: the gateway serves indexes out of the folders of the targets.
atEnd(async () => {
  for (const target of directTargets.values()) await (await target).close();
});

function directTarget(program: Program): Promise<DirectTarget> {
  const target = directTargets.get(program.name) ?? directTargetOf(program);
  directTargets.set(program.name, target);
  return target;
}

async function hostAll(): Promise<HostedPacks> {
  const programs = DIRECT.map(programOf).filter((program): program is Program => !('reason' in program));
  const packs = programs.map(async (program) => [program, (await directTarget(program)).target.pack] as const);
  return HostedPacks.start(await Promise.all(packs), atEnd);
}

/** The clauses of one target, each with what runs it. */
interface Suite {
  readonly target: TargetName;
  readonly program: ReturnType<typeof programOf>;
  readonly checks: readonly (readonly [clause: Clause, run: (program: Program) => Promise<void>])[];
}

function directSuite(name: DirectName): Suite {
  // Around its modules our child is one program: of a TypeScript pack's process only what has to do with them is asked.
  const clauses =
    name === 'our child (TypeScript)'
      ? CLAUSES.filter(({ scope, id }) => scope === 'http' || /^C(?:6|12|13|14|29)\//.test(id))
      : CLAUSES;
  const checks = clauses.map((clause): Suite['checks'][number] => [
    clause,
    async (program) => {
      const { target } = await directTarget(program);
      if (clause.scope === 'http') await clause.run(await target.shared());
      else await clause.run(target);
    },
  ]);
  return { target: name, program: programOf(name), checks };
}

/** Behind a gateway a process is not seen: only what holds from any caller's place is asked. */
function hostedSuite(name: DirectName): Suite {
  const clauses = CLAUSES.filter((clause) => clause.scope === 'http');
  const checks = clauses.map((clause): Suite['checks'][number] => [
    clause,
    async (program) => {
      hostedPacks ??= hostAll();
      await clause.run((await hostedPacks).service(program.name));
    },
  ]);
  return { target: `${name} through the gateway`, program: programOf(name), checks };
}

/** Targets whose names begin so, instead of all: `PACKGATE_CONTRACT_ONLY='our child'`. */
const only = process.env.PACKGATE_CONTRACT_ONLY ?? '';
const suites = [...DIRECT.map(directSuite), ...DIRECT.map(hostedSuite)].filter(({ target }) => target.startsWith(only));

for (const { target, program, checks } of suites) {
  describe.concurrent(`${target}`, () => {
    const reason = 'reason' in program ? program.reason : undefined;
    if (reason !== undefined) process.stderr.write(`contract suite: "${target}" is skipped: ${reason}\n`);
    test('its service is there, or nobody asks for it', () => {
      expect(requiresRealServices() ? reason : undefined).toBeUndefined();
    });

    for (const [clause, run] of checks) {
      const deviation = deviationOf(target, clause.id);
      const suffix = reason === undefined ? '' : ` – skipped: ${reason}`;
      test.skipIf(reason !== undefined)(`${titleOf(clause, deviation)}${suffix}`, async () => {
        assert.ok(!('reason' in program));
        const allowed = deviation === undefined ? ['holds'] : deviation.isTiming ? ['holds', 'deviates'] : ['deviates'];
        expect(allowed).toContain(await verdictOf(clause, () => run(program), deviation));
      });
    }
  });
}

/** What is known to fail has to fail by a check of the clause; anything else that goes wrong is told as it is. */
async function verdictOf(clause: Clause, run: () => Promise<void>, known: Deviation | undefined): Promise<string> {
  const outcome = await outcomeOf(clause, run);
  if (known !== undefined && outcome.verdict === 'deviates' && outcome.isCheck) return 'deviates';
  return outcome.verdict === 'holds' ? 'holds' : JSON.stringify(outcome);
}

function titleOf({ id, also, title }: Clause, deviation: Deviation | undefined): string {
  const others = also?.length ? ` [${also.join(', ')}]` : '';
  return `${id}${others}: ${title}${deviation === undefined ? '' : ` (deviates: ${deviation.why})`}`;
}

test('every deviation names a clause that exists, once', () => {
  const ids = CLAUSES.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const keys = DEVIATIONS.map(({ target, clause }) => `${target} ${clause}`);
  expect(new Set(keys).size).toBe(keys.length);
  for (const { clause } of DEVIATIONS) expect(ids).toContain(clause);
});
