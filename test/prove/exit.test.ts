import { expect, it } from 'vitest';
import { prover } from './exit.ts';
import { perform } from './prover.ts';

it('nothing is left of a gateway that is killed (quick form of prove:exit)', async () => {
  expect(await perform(prover, { rounds: 4, seed: 3 })).toEqual([]);
}, 60_000);
