import { expect, it } from 'vitest';
import { perform } from './prover.ts';
import { prover } from './steady.ts';

it('a gateway at rest has what it had before its calls (quick form of prove:steady)', async () => {
  expect(await perform(prover, { deployments: 4, seconds: 5, warmup: 3, rate: 20 })).toEqual([]);
}, 120_000);
