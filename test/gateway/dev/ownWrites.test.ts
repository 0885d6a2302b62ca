import { describe, expect, it } from 'vitest';
import { OwnWrites } from '../../../gateway/dev/ownWrites.ts';

function world() {
  let now = 0;
  const found: string[] = [];
  const own = new OwnWrites({ now: () => now, after: () => () => undefined }, (file) => found.push(file));
  /** A swap, and what changes so long after it. Returns what counts as saved. */
  const swap = (afterMs: number, ...files: string[]): string[] => {
    own.began();
    now += 150;
    own.ended();
    now += afterMs;
    return [...own.without(new Set(files))];
  };
  return { own, found, swap };
}

describe('what a pack writes itself', () => {
  it('is found when it changes on the heels of one swap after the other; other files go on counting', () => {
    const { found, swap } = world();
    for (let round = 1; round < 15; round += 1) expect(swap(30, 'a.json')).toEqual(['a.json']);
    expect(swap(30, 'a.json', 'tool.ts')).toEqual(['tool.ts']);
    expect(found).toEqual(['a.json']);
    expect(swap(5_000, 'a.json', 'tool.ts')).toEqual(['tool.ts']);
    expect(found).toEqual(['a.json']);
  });

  it('is not what an author saves again and again, with time to see it serve', () => {
    const { found, swap } = world();
    for (let round = 0; round < 100; round += 1) expect(swap(250, 'tool.ts')).toEqual(['tool.ts']);
    for (let round = 0; round < 100; round += 1) swap(round % 10 === 9 ? 1_000 : 30, 'tool.ts');
    expect(found).toEqual([]);
  });
});
