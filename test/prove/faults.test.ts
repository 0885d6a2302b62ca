import { expect, it } from 'vitest';
import { prover } from './faults.ts';
import { perform } from './prover.ts';

it('faults on order are the same for the same seed (quick form of prove:faults)', async () => {
  expect(await perform(prover, { tenants: 3, calls: 40 })).toEqual([]);
}, 120_000);
