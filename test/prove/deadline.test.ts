import { expect, it } from 'vitest';
import { printFigures } from '../support/printFigures.ts';
import { prover } from './deadline.ts';
import { perform } from './prover.ts';

it('prove:deadline, in quick form', async () => {
  expect(await perform(prover, { calls: 16 }, { print: printFigures })).toEqual([]);
}, 90_000);
