import { expect, it } from 'vitest';
import { perform } from './prover.ts';
import { prover } from './spoof.ts';

it('no false listening line catches a call (quick form of prove:spoof)', async () => {
  expect(await perform(prover, { rounds: 1 })).toEqual([]);
}, 60_000);
