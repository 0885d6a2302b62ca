import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../gateway/config/faultRule.ts';
import { FaultOrders } from '../../../gateway/faults/orders.ts';

const always = (rule: Partial<FaultRule> = {}): FaultRule => ({ pick: { kind: 'all' }, fault: '421', ms: 0, ...rule });
const chance = (p: number, seed: number, rule: Partial<FaultRule> = {}): FaultRule =>
  always({ pick: { kind: 'probability', p, seed }, ...rule });

/** Which of the first `count` calls meet a fault, by number. */
function numbersOf(orders: FaultOrders, count: number, tenant = 'acme', tool = 'a.b'): number[] {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  return numbers.filter(() => orders.ofCall(tenant, tool) !== undefined);
}

describe('faults on order', () => {
  it('pick all calls, the nth, or every nth, counted for each tenant and tool apart', () => {
    expect(numbersOf(new FaultOrders([always()]), 3)).toEqual([1, 2, 3]);
    expect(numbersOf(new FaultOrders([always({ pick: { kind: 'nth', n: 2 } })]), 5)).toEqual([2]);
    const every = new FaultOrders([always({ pick: { kind: 'every', n: 3 } })]);
    expect(numbersOf(every, 7)).toEqual([3, 6]);
    expect(numbersOf(every, 4, 'acme', 'other')).toEqual([3]);
    expect(numbersOf(every, 4, 'globex')).toEqual([3]);
  });

  it('are about the tenant and the tool they name, a UUID in any letter case', () => {
    const uuid = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
    const orders = new FaultOrders([always({ tenant: uuid, tool: 'a.b' })]);
    expect(orders.ofCall(uuid.toUpperCase(), 'a.b')).toEqual({ kind: '421', ms: 0 });
    expect(orders.ofCall(uuid, 'a.c')).toBeUndefined();
    expect(orders.ofCall('acme', 'a.b')).toBeUndefined();
  });

  it('leave what is no call of a tool or a check alone, and do not count it', () => {
    const orders = new FaultOrders([always({ pick: { kind: 'nth', n: 1 } })]);
    expect(orders.ofCall('acme', undefined)).toBeUndefined();
    expect(orders.ofCall('acme', 'a.b')).toBeDefined();
  });

  it('of several that fit, the first counts', () => {
    const orders = new FaultOrders([always({ fault: 'late', ms: 5, pick: { kind: 'nth', n: 2 } }), always()]);
    expect([1, 2, 3].map(() => orders.ofCall('acme', 'a.b'))).toEqual([
      { kind: '421', ms: 0 },
      { kind: 'late', ms: 5 },
      { kind: '421', ms: 0 },
    ]);
  });

  it('of a start do not meet calls, and the other way round', () => {
    const orders = new FaultOrders([always({ fault: 'never-ready' }), always({ fault: 'cut' })]);
    expect(orders.ofStart('acme')).toBe('never-ready');
    expect(orders.ofCall('acme', 'a.b')).toEqual({ kind: 'cut', ms: 0 });
  });

  it('by probability come about as often as they should, and the same ones for the same seed', () => {
    const picked = (seed: number): number[] => numbersOf(new FaultOrders([chance(0.3, seed)]), 2_000);
    expect(picked(7)).toEqual(picked(7));
    expect(picked(7)).not.toEqual(picked(8));
    expect(picked(7).length).toBeGreaterThan(500);
    expect(picked(7).length).toBeLessThan(700);
    expect(numbersOf(new FaultOrders([chance(0, 1)]), 500)).toEqual([]);
    expect(numbersOf(new FaultOrders([chance(1, 1)]), 500)).toHaveLength(500);
  });

  it('two rules with one seed and different faults do not pick the same calls', () => {
    const both = new FaultOrders([chance(0.2, 1), chance(0.2, 1, { fault: '503' })]);
    const kinds = Array.from({ length: 1_000 }, () => both.ofCall('acme', 'a.b')?.kind);
    expect(kinds.filter((kind) => kind === '503').length).toBeGreaterThan(100);
  });

  it('do not depend on the order in which tenants and tools call', () => {
    const rules = [chance(0.4, 3), chance(0.2, 3, { fault: 'cut' }), chance(0.5, 3, { fault: 'forged-line' })];
    const calls = ['a', 'b', 'c'].flatMap((tenant) =>
      ['x', 'y'].flatMap((tool) => Array.from({ length: 40 }, () => [tenant, tool] as const)),
    );
    const trace = (order: readonly (readonly [string, string])[]): string => {
      const orders = new FaultOrders(rules);
      for (const [tenant, tool] of order) orders.ofCall(tenant, tool);
      for (const tenant of ['a', 'b']) for (let start = 0; start < 5; start += 1) orders.ofStart(tenant);
      return orders.trace();
    };
    const mixed = calls.map((call, at) => ({ call, at: (at * 97) % calls.length })).toSorted((a, b) => a.at - b.at);
    expect(trace(mixed.map(({ call }) => call))).toBe(trace(calls));
    expect(trace(calls.toReversed())).toBe(trace(calls));
    expect(trace(calls)).not.toBe('');
  });

  it('the trace is a line for each, by tenant, tool and number, starts before calls, and has no times', () => {
    const orders = new FaultOrders([always({ pick: { kind: 'every', n: 2 } }), always({ fault: 'never-ready' })]);
    for (const tenant of ['b', 'A', 'b', 'A']) orders.ofCall(tenant, 'z');
    for (let call = 0; call < 20; call += 1) orders.ofCall('b', 'y');
    orders.ofStart('b');
    expect(orders.trace().split('\n').slice(0, 4)).toEqual([
      '{"tenant":"A","tool":"z","n":2,"fault":"421"}',
      '{"tenant":"b","tool":null,"n":1,"fault":"never-ready"}',
      '{"tenant":"b","tool":"y","n":2,"fault":"421"}',
      '{"tenant":"b","tool":"y","n":4,"fault":"421"}',
    ]);
    expect(new FaultOrders([]).trace()).toBe('');
  });
});
