import { describe, expect, it } from 'vitest';
import { OutputBudget } from '../../../gateway/supervisor/outputBudget.ts';

describe('what is shown of an instance', () => {
  it('is a burst of 5,000 lines and a thousand a second after it; the rest is counted', () => {
    let now = 0;
    const budget = new OutputBudget({ now: () => now, after: () => () => undefined });
    const shownOf = (lines: number): number => {
      budget.refill();
      return Array.from({ length: lines }, () => budget.take(20)).filter(Boolean).length;
    };
    expect(shownOf(10_000)).toBe(5_000);
    expect(budget.takeDropped()).toBe(5_000);
    now += 500;
    expect(shownOf(10_000)).toBe(500);
    // Told once a second at most, and the rest at the end.
    expect(budget.takeDropped()).toBe(0);
    expect(budget.takeLastDropped()).toBe(9_500);
    now += 3_600_000;
    expect(shownOf(10_000)).toBe(5_000);
  });

  it('counts a long line by its length, and may owe for it', () => {
    let now = 0;
    const budget = new OutputBudget({ now: () => now, after: () => () => undefined });
    const shown = Array.from({ length: 100 }, () => budget.take(64 * 1024)).filter(Boolean).length;
    // 5,000 saved up, 64 a line: the last one is begun with what is left.
    expect(shown).toBe(79);
    now += 50;
    budget.refill();
    expect(budget.take(1)).toBe(false);
    now += 50;
    budget.refill();
    expect(budget.take(1)).toBe(true);
    budget.drop(10);
    expect(budget.takeLastDropped()).toBe(21 + 1 + 10);
  });
});
