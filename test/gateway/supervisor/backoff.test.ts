import { describe, expect, it } from 'vitest';
import { Backoff } from '../../../gateway/supervisor/backoff.ts';

describe('the delay before the next start', () => {
  const settings = { minMs: 100, maxMs: 1000, healthyMs: 5000 };

  it('doubles with every failure in a row, up to its limit', () => {
    const backoff = new Backoff(settings, () => 0.5);
    expect([1, 2, 3, 4, 5, 6].map(() => backoff.startFailed())).toEqual([100, 200, 400, 800, 1000, 1000]);
  });

  it('is jittered by a fifth either way and never over its limit', () => {
    expect(new Backoff(settings, () => 0).startFailed()).toBe(80);
    expect(new Backoff(settings, () => 1).startFailed()).toBe(120);
    const backoff = new Backoff(settings, () => 1);
    for (let failure = 0; failure < 2000; failure += 1) expect(backoff.startFailed()).toBeLessThanOrEqual(1000);
  });

  it('is none for a first crash, and grows when a pack becomes ready and dies each time', () => {
    const backoff = new Backoff(settings, () => 0.5);
    const delays = [1, 2, 3].map(() => {
      backoff.wasReady(10);
      return backoff.crashed();
    });
    expect(delays).toEqual([0, 200, 400]);
  });

  it('is forgiven after enough time ready, however that ended', () => {
    const backoff = new Backoff(settings, () => 0.5);
    backoff.startFailed();
    backoff.startFailed();
    backoff.wasReady(5000);
    expect(backoff.crashed()).toBe(0);
  });
});
