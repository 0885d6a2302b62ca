// Case 2: an output flood and a giant line. The child never blocks on it, and the gateway neither grows nor stalls.
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectRan } from '../support/expectations.ts';
import type { Gateway } from '../support/gateway.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { residentBytes } from '../support/processes.ts';
import { callTimesOf, percentile } from '../support/timing.ts';
import { printFigures } from '../support/printFigures.ts';

const MIB = 1024 * 1024;
const MAX_GROWTH_BYTES = 64 * MIB;
const GIANT_LINE_BYTES = 300_000_000;

const FLOOD_BYTES = 200_000_000;

/** 200 MB in writes of 4 KB, all of them lines of this length. */
function floodOf(lineBytes: number) {
  const linesPerWrite = Math.floor(4_096 / lineBytes);
  const text = `${'f'.repeat(lineBytes - 1)}\n`.repeat(linesPerWrite);
  const times = Math.ceil(FLOOD_BYTES / text.length);
  return { act: { act: 'say', stream: 'stdout', text, times }, lines: times * linesPerWrite };
}

/** Watches the gateway's memory; `stop` returns the most it grew by. */
function watchGrowth({ pid }: Gateway): { stop: () => number } {
  const before = residentBytes(pid);
  let most = before;
  const look = (): void => void (most = Math.max(most, residentBytes(pid)));
  const timer = setInterval(look, 20);
  onTestFinished(() => clearInterval(timer));
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return most - before;
    },
  };
}

/** Lines of the flood that were shown, and lines that were dropped and counted. */
function floodLines({ records }: Gateway): { shown: number; dropped: number } {
  const shown = records.filter(({ output }) => typeof output === 'string' && output.startsWith('fff')).length;
  const dropped = records
    .filter(({ event }) => event === 'output-dropped' || event === 'log-dropped')
    .reduce((sum, { lines }) => sum + Number(lines), 0);
  return { shown, dropped };
}

describe('case 2: output flood and a giant line', () => {
  it('a: 300 MB without a line end: ready, the line shown once, cut, with its true length, the next ones intact', async () => {
    const { gateway, stubs } = await hostStubs({ a: { behaviour: { giantLineBytes: GIANT_LINE_BYTES } } });
    const growth = watchGrowth(gateway);
    expectRan(await stubs.a.invoke());
    const grewBytes = growth.stop();
    await stubs.a.invoke({ input: { act: 'say', text: 'the next line\n' } });
    await gateway.waitForRecord(({ output }) => output === 'the next line');
    const giants = gateway.records.filter(({ output }) => typeof output === 'string' && output.startsWith('ggg'));
    expect(giants).toHaveLength(1);
    expect(giants[0]).toMatchObject({ lineBytes: GIANT_LINE_BYTES });
    expect(String(giants[0]?.output)).toMatch(/^g{16384}…$/);
    printFigures(`case 2a: the gateway grew by ${(grewBytes / MIB).toFixed(1)} MiB`);
    expect(grewBytes).toBeLessThan(MAX_GROWTH_BYTES);
    expect(stubs.a.starts()).toHaveLength(1);
  }, 60_000);

  it.each([
    ['b: 200 MB in 4 KB writes during a call', 4_096, undefined],
    ['b: the same in lines of 20 bytes', 20, undefined],
    ['c: the same while the gateway’s own output is read at 1 KB a second', 4_096, 1_024],
  ])(
    '%s: the calls are 200 and not slowed, what is not shown is counted',
    async (name, lineBytes, bytesPerSecond) => {
      const flood = floodOf(lineBytes);
      const { gateway, stubs } = await hostStubs({ noisy: {}, neighbour: {} });
      expectRan(await stubs.noisy.invoke());
      expectRan(await stubs.neighbour.invoke());
      await callTimesOf(stubs.neighbour);
      const quiet = await callTimesOf(stubs.neighbour);

      const readOn = bytesPerSecond === undefined ? () => undefined : gateway.readSlowly(bytesPerSecond);
      const growth = watchGrowth(gateway);
      const from = performance.now();
      const flooding = stubs.noisy.invoke({ input: flood.act });
      const loud = await callTimesOf(stubs.neighbour, { atLeast: 100, over: flooding });
      expectRan(await flooding);
      const floodMs = performance.now() - from;
      const grewBytes = growth.stop();
      readOn();
      expect((await gateway.stop()).code).toBe(0);
      const { shown, dropped } = floodLines(gateway);

      const [quietP50, quietP99, loudP50, loudP99] = [
        percentile(quiet, 0.5),
        percentile(quiet, 0.99),
        percentile(loud, 0.5),
        percentile(loud, 0.99),
      ];
      printFigures(
        `case 2${name[0]}, lines of ${lineBytes} bytes: flood ${(200_000 / floodMs).toFixed(0)} MB/s, ${shown} lines shown, ${dropped} dropped; ` +
          `the gateway grew by ${(grewBytes / MIB).toFixed(1)} MiB; a neighbour's call without/with it: ` +
          `p50 ${quietP50.toFixed(2)}/${loudP50.toFixed(2)} ms, p99 ${quietP99.toFixed(2)}/${loudP99.toFixed(2)} ms`,
      );
      expect(grewBytes).toBeLessThan(MAX_GROWTH_BYTES);
      // Nothing is lost silently; other lines than the flood's may be among those dropped.
      expect(shown).toBeGreaterThan(100);
      expect(shown + dropped).toBeGreaterThanOrEqual(flood.lines);
      expect(shown + dropped).toBeLessThanOrEqual(flood.lines + 1_000);
      // Two cores that four processes share: a call waits for its turn, never for the flood's end.
      expect(loudP50).toBeLessThan(10 * quietP50 + 20);
      expect(loudP99).toBeLessThan(10 * quietP99 + 100);
    },
    90_000,
  );
});
