// What packs print: always read, shown up to a bound, counted beyond it, and never taken for the gateway's own.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectRan } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import type { LogRecord } from '../support/gateway.ts';
import { hostStubs } from '../support/hostedStubs.ts';

const LINES = 100_000;

function droppedLines(records: readonly LogRecord[]): number {
  return records
    .filter(({ event }) => event === 'output-dropped' || event === 'log-dropped')
    .reduce((sum, { lines }) => sum + Number(lines), 0);
}

describe('the output of a pack', () => {
  it('never blocks it, however much it is; lines that are not shown are counted, and none is lost silently', async () => {
    const { gateway, stubs } = await hostStubs({ noisy: {} });
    expectRan(await stubs.noisy.invoke({ input: { act: 'print', lines: LINES } }));
    expect((await gateway.stop()).code).toBe(0);
    const shown = gateway.records.filter(({ output }) => output === 'some output of a pack').length;
    const dropped = droppedLines(gateway.records);
    expect(shown).toBeGreaterThan(1_000);
    // The service's own records count, too: its listening line was shown, the one about its drain may not be.
    expect(shown + dropped).toBeGreaterThanOrEqual(2 * LINES);
    expect(shown + dropped).toBeLessThanOrEqual(2 * LINES + 10);
  });

  it.each(['stdout', 'stderr'])(
    'may be bytes that are no text, 50 MB of them on %s: the log stays JSON',
    async (stream) => {
      const { gateway, stubs } = await hostStubs({ noisy: {}, neighbour: {} });
      const input = { act: 'say', stream, base64: randomBytes(100_000).toString('base64'), times: 500 };
      expectRan(await stubs.noisy.invoke({ input }));
      expectRan(await stubs.neighbour.invoke());
      expect((await gateway.stop()).code).toBe(0);
      const lines = gateway.output().trimEnd().split('\n');
      for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
      expect(gateway.records.filter(({ event }) => event === 'output').length).toBeGreaterThan(10);
      expect(droppedLines(gateway.records)).toBeGreaterThan(10_000);
    },
  );

  it('cannot pose as the gateway’s own records, or as another tenant’s, and changes nothing', async () => {
    const { gateway, stubs } = await hostStubs({ forger: {}, other: {} });
    expectRan(await stubs.forger.invoke());
    const time = '2025-01-01T00:00:00.000Z';
    const common = { time, level: 'error', subsystem: 'gateway', message: 'forged', tenant: stubs.other.tenantId };
    const forged = [
      { ...common, event: 'listening', address: 'http://127.0.0.1:9' },
      { ...common, event: 'instance-exited', instance: 'default#1', __proto__: null },
      { ...common, subsystem: 'pack', event: 'stopped' },
      { ...common, subsystem: 'pack', event: 'listening', port: gateway.port },
      { kind: 'draining' },
      { kind: 'boot-failed', problems: ['forged'] },
      { kind: 'listening', port: gateway.port },
    ];
    const text = forged.map((record) => JSON.stringify(record)).join('\n');
    // A carriage return alone ends no line of the log either.
    const input = { act: 'say', text: `${text}\nsome output\r${JSON.stringify(common)}\nthe end\n` };
    expectRan(await stubs.forger.invoke({ input }));
    await gateway.waitForRecord(({ output }) => output === 'the end');
    for (const record of gateway.records.filter(({ tenant }) => tenant === stubs.other.tenantId)) {
      expect(record.event).not.toBe('instance-exited');
      expect(record.message).not.toBe('forged');
    }
    const { records } = gateway;
    expect(records.filter(({ event }) => event === 'listening').map(({ address }) => address)).toEqual([
      gateway.address,
    ]);
    expect(records.filter(({ message }) => message === 'forged')).toEqual([]);
    const shown = records.filter(({ event, record }) => event === 'pack-record' && holdsForged(record));
    expect(shown).toHaveLength(4);
    for (const record of shown) {
      expect(record).toMatchObject({ subsystem: 'gateway', tenant: stubs.forger.tenantId, message: 'pack record' });
    }
    expect(expectRan(await stubs.forger.invoke()).start).toBe(1);
  });

  it.each([
    ['a record', { time: 't', level: 'info', subsystem: 'pack.tool', message: 'm' }],
    ['a listening line', { kind: 'listening', port: 1 }],
  ])('may be %s nested 30,000 deep: it is shown as text, and every tenant is served on', async (_, fields) => {
    const { gateway, stubs } = await hostStubs({ deep: {}, neighbour: {} });
    const line = `${JSON.stringify(fields).slice(0, -1)},"deep":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    expectRan(await stubs.deep.invoke({ input: { act: 'say', text: `${line}\n` } }));
    await gateway.waitForRecord(({ output }) => typeof output === 'string' && output.includes('[[[['));
    expectRan(await stubs.deep.invoke());
    expectRan(await stubs.neighbour.invoke());
    expect(gateway.records.filter(({ event }) => event === 'internal-error')).toEqual([]);
    expect((await gateway.stop()).code).toBe(0);
  });

  it('is shown to its last word: after SIGTERM, unterminated, at the process’s end', async () => {
    const lastWords = 'last words without a line end';
    const { gateway, stubs } = await hostStubs({ a: { behaviour: { lastWords } } });
    expectRan(await stubs.a.invoke());
    expect((await gateway.stop()).code).toBe(0);
    expect(gateway.records.filter(({ output }) => output === lastWords)).toHaveLength(1);
  });

  it('of a gateway whose own output nobody reads keeps neither calls nor its end waiting', async () => {
    const { gateway, stubs } = await hostStubs({ noisy: {}, neighbour: {} });
    expectRan(await stubs.noisy.invoke());
    const readOn = gateway.readSlowly(1);
    expectRan(await stubs.noisy.invoke({ input: { act: 'print', lines: LINES } }));
    expectRan(await stubs.neighbour.invoke());
    const from = performance.now();
    expect((await gateway.stop()).code).toBe(0);
    // A second for the reader, and what a drain takes.
    expect(performance.now() - from).toBeLessThan(2_500);
    readOn();
    await until('the log’s beginning', () => gateway.records.length > 10);
  });
});

function holdsForged(record: unknown): boolean {
  return (record as { message?: unknown }).message === 'forged';
}
