// What packs print: always read, shown up to a bound, counted beyond it.
import { describe, expect, it } from 'vitest';
import { expectRan } from '../support/expectations.ts';
import { hostStubs } from '../support/hostedStubs.ts';

const LINES = 100_000;

describe('the output of a pack', () => {
  it('never blocks it, however much it is; lines that are not shown are counted, and none is lost silently', async () => {
    const { gateway, stubs } = await hostStubs({ noisy: {} });
    expectRan(await stubs.noisy.invoke({ input: { act: 'print', lines: LINES } }));
    expect((await gateway.stop()).code).toBe(0);
    const shown = gateway.records.filter(({ output }) => output === 'some output of a pack').length;
    const dropped = gateway.records
      .filter(({ event }) => event === 'output-dropped' || event === 'log-dropped')
      .reduce((sum, { lines }) => sum + Number(lines), 0);
    expect(shown).toBeGreaterThan(1_000);
    // The service's own records count, too: its listening line was shown, the one about its drain may not be.
    expect(shown + dropped).toBeGreaterThanOrEqual(2 * LINES);
    expect(shown + dropped).toBeLessThanOrEqual(2 * LINES + 10);
  });
});
