// Case 5: the child dies during a call, or never gets it. 503 only where it provably did not run.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { invokeMessageOf } from '../support/calls.ts';
import { expectMayHaveRun, expectRan, expectTryAgain } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStub } from '../support/hostedStubs.ts';
import { processesMentioning } from '../support/processes.ts';

/** All of these are about moments: each is tried that often, with a gateway of its own. */
const ROUNDS = 5;

const repeated = (round: () => Promise<void>) => async (): Promise<void> => {
  for (let time = 0; time < ROUNDS; time += 1) await round();
};

/** How often a call arrived at the child, read completely or not. */
function attempts(stub: HostedStub, requestId: string): number {
  return stub.events('request').filter((event) => event.requestId === requestId).length;
}

describe('case 5: the child dies during a call, or never gets it', () => {
  it(
    'a: it kills itself after reading the whole call: 500, ran once, never sent again',
    repeated(async () => {
      const { gateway, stubs } = await hostStubs({ a: {} });
      const requestId = randomUUID();
      expectMayHaveRun(await stubs.a.invoke({ requestId, input: { act: 'die' } }));
      expect(expectRan(await stubs.a.invoke()).start).toBe(2);
      expect(stubs.a.ranIds().filter((id) => id === requestId)).toHaveLength(1);
      expect(attempts(stubs.a, requestId)).toBe(1);
      expect((await gateway.stop()).code).toBe(0);
    }),
    60_000,
  );

  it(
    'b: it has closed its listening socket but runs on: 503, nothing runs, the child is replaced',
    repeated(async () => {
      const { folder, gateway, stubs } = await hostStubs({ a: {} });
      expectRan(await stubs.a.invoke({ input: { act: 'close-listener' } }));
      const requestId = randomUUID();
      expectTryAgain(await stubs.a.invoke({ requestId }));
      expect(stubs.a.ranIds()).not.toContain(requestId);
      await until('the replacement serves', async () => {
        const next = await stubs.a.invoke();
        if (next.status === 200) return expectRan(next).start === 2;
        expectTryAgain(next);
        return false;
      });
      await until('only the replacement is left', () => processesMentioning(stubs.a.folder).length === 1, 15_000);
      expect(processesMentioning(folder)).toHaveLength(2);
      expect(stubs.a.starts()).toHaveLength(2);
      expect((await gateway.stop()).code).toBe(0);
    }),
    60_000,
  );

  it(
    'c: it resets the connection without reading: never run, and a 503 only where not one byte was written',
    repeated(async () => {
      const { gateway, stubs } = await hostStubs({ a: {} });
      expectRan(await stubs.a.invoke({ input: { act: 'reset-connections' } }));
      const requestId = randomUUID();
      const answer = await stubs.a.invoke({ requestId });
      if (answer.status === 503) expectTryAgain(answer);
      else expectMayHaveRun(answer);
      expect(stubs.a.ranIds()).not.toContain(requestId);
      expect(attempts(stubs.a, requestId)).toBe(0);
      expect((await gateway.stop()).code).toBe(0);
    }),
    60_000,
  );

  it('d: its own 503 is passed on unchanged and the call is not sent again', async () => {
    const { stubs } = await hostStubs({ a: {} });
    const answer = await stubs.a.invoke({ input: { act: 'busy' } });
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('7');
    expect(answer.text).toBe('{"error":"overloaded"}');
    expect(stubs.a.runs()).toHaveLength(1);
  });

  it(
    'e: it dies with half of a 5 MB body: 500, not run, never sent again',
    repeated(async () => {
      const behaviour = { starts: { 1: { dieAfterBodyBytes: 2_500_000 } } };
      const { gateway, stubs } = await hostStubs({ a: { behaviour } });
      const requestId = randomUUID();
      const body = invokeMessageOf(5_000_000, stubs.a.tenantId, { requestId });
      expectMayHaveRun(await stubs.a.post(body, { requestId }));
      expect(expectRan(await stubs.a.invoke()).start).toBe(2);
      expect(stubs.a.ranIds()).not.toContain(requestId);
      expect(attempts(stubs.a, requestId)).toBe(1);
      expect((await gateway.stop()).code).toBe(0);
    }),
    60_000,
  );
});
