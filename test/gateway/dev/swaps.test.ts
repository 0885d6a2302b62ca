import { describe, expect, it } from 'vitest';
import { Swaps } from '../../../gateway/dev/swaps.ts';
import type { Swapped } from '../../../gateway/dev/swaps.ts';
import type { Done } from '../../../gateway/supervisor/status.ts';

const OK: Done = { ok: true, message: 'serves' };

/** Swaps that end when told to, on a clock that is moved by hand. */
function world() {
  let now = 0;
  const timers = new Set<{ at: number; action: () => void }>();
  const ends: ((done: Done) => void)[] = [];
  const swapped: Swapped[] = [];
  const swaps = new Swaps({
    clock: {
      now: () => now,
      after: (delayMs, action) => {
        const timer = { at: now + delayMs, action };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
    },
    swap: () => new Promise((resolve) => ends.push(resolve)),
    onSwapped: (one) => swapped.push(one),
  });
  return {
    swaps,
    swapped,
    orders: () => ends.length,
    save: (...files: string[]) => swaps.saved(new Set(files), now),
    end: async (order: number, done: Done = OK) => {
      ends[order]?.(done);
      await new Promise((resolve) => setImmediate(resolve));
    },
    pass: (ms: number) => {
      now += ms;
      for (const timer of [...timers].filter(({ at }) => at <= now)) {
        timers.delete(timer);
        timer.action();
      }
    },
  };
}

describe('saves and the swaps that follow', () => {
  it('a save is a swap, told with its time and its files', async () => {
    const { save, orders, pass, end, swapped } = world();
    save('a.ts', 'b.ts');
    expect(orders()).toBe(1);
    pass(120);
    await end(0);
    expect(swapped).toEqual([{ done: OK, durationMs: 120, files: ['a.ts', 'b.ts'] }]);
  });

  it('saves during a swap are one more swap at its end, however many, timed from the first of them', async () => {
    const { save, orders, pass, end, swapped } = world();
    save('a.ts');
    pass(100);
    save('b.ts');
    pass(100);
    save('c.ts');
    save('b.ts');
    expect(orders()).toBe(1);
    await end(0);
    expect(orders()).toBe(2);
    pass(50);
    await end(1);
    expect(orders()).toBe(2);
    expect(swapped.slice(1)).toEqual([{ done: OK, durationMs: 150, files: ['b.ts', 'c.ts'] }]);
  });

  it('a swap that takes too long is given up for a save, now or when its time is up; what becomes of it is not told', async () => {
    const { save, orders, pass, end, swapped } = world();
    save('a.ts');
    pass(1_500);
    save('b.ts');
    expect(orders()).toBe(1);
    pass(500);
    expect(orders()).toBe(2);
    pass(5_000);
    save('c.ts');
    pass(0);
    expect(orders()).toBe(3);
    await end(0, { ok: false, code: 'superseded', message: 'given up', problems: [] });
    await end(1);
    expect(swapped).toEqual([]);
    await end(2);
    expect(swapped.map(({ files }) => files)).toEqual([['c.ts']]);
  });

  it('without a save in between a slow swap is waited for', async () => {
    const { save, orders, pass, end, swapped } = world();
    save('a.ts');
    pass(60_000);
    expect(orders()).toBe(1);
    await end(0);
    expect(swapped).toHaveLength(1);
  });

  it('closed, it orders nothing and tells nothing any more', async () => {
    const { swaps, save, orders, pass, end, swapped } = world();
    save('a.ts');
    save('b.ts');
    swaps.close();
    await end(0);
    save('c.ts');
    pass(10_000);
    expect([orders(), swapped]).toEqual([1, []]);
  });
});
