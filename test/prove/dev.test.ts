import { expect, it } from 'vitest';
import { prover } from './dev.ts';
import { perform } from './prover.ts';

// Without the goal: how long a swap takes is measured on a quiet machine, not beside other tests.
it('what is saved serves, broken saves do not, and nothing is left (quick form of prove:dev)', async () => {
  expect(await perform(prover, { saves: 2, pause: 50, goal: 0 })).toEqual([]);
}, 120_000);
