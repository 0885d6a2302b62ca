import { describe, expect, it } from 'vitest';
import { OutputBudget } from '../../../gateway/supervisor/outputBudget.ts';

describe('what is shown of an instance', () => {
  it('is a burst of 5,000 lines and a thousand a second after it; the rest is counted', () => {
    let now = 0;
    const budget = new OutputBudget({ now: () => now, after: () => () => undefined });
    const shownOf = (lines: number): number =>
      Array.from({ length: lines }, () => budget.take()).filter(Boolean).length;
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
});
