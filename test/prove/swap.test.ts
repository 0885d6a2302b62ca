import { expect, it } from 'vitest';
import { perform } from './prover.ts';
import { prover } from './swap.ts';

it('swaps under load lose no call and run none twice (quick form of prove:swap)', async () => {
  const options = { swaps: 8, rate: 60, longest: 1_500, services: 'ours' };
  expect(await perform(prover, options)).toEqual([]);
}, 60_000);
