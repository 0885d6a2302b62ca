import { expect, it } from 'vitest';
import { nearest } from '../../../gateway/config/nearest.ts';

const KNOWN = ['listen', 'stateDir', 'tokens', 'bodies', 'defaults', 'tenants', 'idle', 'drain'];

it.each([
  ['lisen', 'listen'],
  ['listenn', 'listen'],
  ['lsiten', 'listen'],
  ['Listen', 'listen'],
  ['statedir', 'stateDir'],
  ['tenant', 'tenants'],
  ['idel', 'idle'],
  ['drian', 'drain'],
])('%s was meant to be %s', (word, meant) => {
  expect(nearest(word, KNOWN)).toBe(meant);
});

it.each(['', 'x', 'memory', 'abcdefgh', 'l'.repeat(100_000)])('nothing is near %.10s', (word) => {
  expect(nearest(word, KNOWN)).toBeUndefined();
});

it('takes the nearest of several near ones', () => {
  expect(nearest('hosts', ['host', 'posts', 'hosts'])).toBe('hosts');
});
