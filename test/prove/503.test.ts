import { expect, it } from 'vitest';
import { prover } from './503.ts';
import { perform } from './prover.ts';
import { planTurmoil } from './turmoil/plan.ts';

it('what is answered 503 did not run, and nothing runs twice (quick form of prove:503)', async () => {
  expect(await perform(prover, { calls: 2_500, seed: 7 })).toEqual([]);
}, 120_000);

it('the same seed repeats the plan, another one does not', () => {
  expect(planTurmoil(7, 500, 6)).toEqual(planTurmoil(7, 500, 6));
  expect(planTurmoil(8, 500, 6).hash).not.toBe(planTurmoil(7, 500, 6).hash);
});
