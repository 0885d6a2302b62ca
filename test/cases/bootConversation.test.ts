// Case 1: what a child says while it boots, and how the gateway hears it.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { expectRan, expectTryAgain } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { StubBehaviour } from '../support/stubPack.ts';

/** From `/readyz` turning 200 to the call's arrival: a probe's rhythm and the proof, on a noisy machine. */
const SOON_MS = 1_000;

describe('case 1: boot conversation', () => {
  const conversations: [string, NonNullable<StubBehaviour['conversation']>][] = [
    ['a: a line in pieces, amid noise, cut inside a character, ended with CR LF', 'choppy'],
    ['b: a long record', 'record'],
    ['b: a bare line', 'bare'],
  ];
  it.each(conversations)('is understood, %s', async (_, conversation) => {
    const { stubs } = await hostStubs({ a: { behaviour: { conversation, readyDelayMs: 400 } } });
    expectRan(await stubs.a.invoke());
    const [ready] = stubs.a.events('ready');
    const [run] = stubs.a.runs();
    expect((run?.at ?? Infinity) - (ready?.at ?? 0)).toBeLessThan(SOON_MS);
    expect(stubs.a.starts()).toHaveLength(1);
  });

  it('c: a listening line on stdout makes nobody ready', async () => {
    const { stubs } = await hostStubs({
      a: { behaviour: { conversation: 'stdout' }, settings: { bootTimeout: '1500ms', restart: { min: '60s' } } },
    });
    expectTryAgain(await stubs.a.invoke());
    expect(stubs.a.events('request')).toEqual([]);
    expect(stubs.a.starts()).toHaveLength(1);
  });

  it('d: each of 50 failed starts is logged with the text that came last, after 300 KB of noise', async () => {
    const { gateway, stubs } = await hostStubs({
      a: {
        behaviour: { bootFailure: { noiseBytes: 300_000, problems: ['no such module x'] } },
        settings: { restart: { min: '1ms', max: '1ms' } },
      },
    });
    while (stubs.a.starts().length < 50) {
      expectTryAgain(await stubs.a.invoke());
      // The delay before the next start; calls before its end are answered at once and would only spin.
      await delay(5);
    }
    // Read through the gateway's own pipe, behind 15 MB of noise.
    const failures = await until('as many failures as starts in the log', () => {
      const records = gateway.records.filter((record) => record.event === 'start-failed');
      return records.length >= stubs.a.starts().length && records;
    });
    expect(failures).toHaveLength(stubs.a.starts().length);
    for (const failure of failures) expect(failure).toMatchObject({ problems: ['no such module x'] });
    expect(stubs.a.runs()).toEqual([]);
  }, 60_000);

  it('e: an exit with 0 before listening is a failed start', async () => {
    const { gateway, stubs } = await hostStubs({
      a: { behaviour: { bootFailure: { exitCode: 0 } }, settings: { restart: { min: '60s' } } },
    });
    expectTryAgain(await stubs.a.invoke());
    await gateway.waitForRecord((record) => record.event === 'start-failed');
    expect(stubs.a.starts()).toHaveLength(1);
  });
});
