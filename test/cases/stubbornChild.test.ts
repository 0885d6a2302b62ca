// Case 12: SIGTERM with a stubborn child and idle connections.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { invokeMessage } from '../support/calls.ts';
import { expectRan } from '../support/expectations.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { callInFlight, termsOf } from '../support/inFlight.ts';
import { processesMentioning } from '../support/processes.ts';
import { callBytes, openRawClient, requestBytes } from '../support/rawClient.ts';

/** What a child of a `command` gets until SIGKILL when nothing is set: `drain` of 8 s and the 3 s of its runtime. */
const KILL_AFTER_MS = 8_000 + 3_000;

/** Ten kept connections that have had an answer, and one stopped in the middle of its headers. */
async function idleClients(port: number) {
  const clients = await Promise.all(Array.from({ length: 11 }, () => openRawClient(port)));
  for (const client of clients.slice(1)) {
    client.send(requestBytes({ method: 'GET', target: '/healthz' }));
    await client.readUntil(/"status":"ok"/);
  }
  clients[0]?.send('POST /v1/invoke HTTP/1.1\r\nHost: x\r\nkindgi-');
  return clients;
}

describe('case 12: a stubborn child and idle connections', () => {
  it('everybody gets one SIGTERM, who does not go is killed in time, the others’ calls end well', async () => {
    const { folder, gateway, stubs } = await hostStubs({ a: {}, b: { behaviour: { onTerminate: 'ignore' } }, c: {} });
    expectRan(await stubs.c.invoke());
    const toA = await callInFlight(stubs.a, 7_000);
    const toB = await callInFlight(stubs.b, 600_000);
    const clients = await idleClients(gateway.port);
    const from = performance.now();
    gateway.signal('SIGTERM');

    await delay(200);
    const late = clients[1];
    late?.send(callBytes(gateway, stubs.c.tenantId, invokeMessage(stubs.c.tenantId)));
    expect(await late?.readUntil(/draining/)).toMatch(/"status":"ok"}HTTP\/1\.1 503 [^]*retry-after: [1-9]/i);

    expectRan(await toA.answer);
    const outcome = await toB.answer.then(
      ({ status }) => status,
      () => 'cut',
    );
    const endedAfterMs = performance.now() - from;
    expect([500, 'cut']).toContain(outcome);
    expect(await gateway.exit).toEqual({ code: 0, signal: null });
    const goneAfterMs = performance.now() - from;
    expect(Math.abs(endedAfterMs - KILL_AFTER_MS)).toBeLessThan(500);
    expect(goneAfterMs - endedAfterMs).toBeLessThan(1_000);
    const terms = termsOf(stubs.a, stubs.b, stubs.c);
    expect(Math.max(...terms) - Math.min(...terms)).toBeLessThanOrEqual(100);
    expect(processesMentioning(folder)).toEqual([]);
    expect(stubs.c.runs()).toHaveLength(1);
    clients.forEach((client) => client.close());
  });

  it('without them it is gone within a second, in spite of the open connections', async () => {
    const { folder, gateway, stubs } = await hostStubs({ c: {} });
    expectRan(await stubs.c.invoke());
    const clients = await idleClients(gateway.port);
    const from = performance.now();
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    expect(performance.now() - from).toBeLessThan(1_000);
    termsOf(stubs.c);
    expect(processesMentioning(folder)).toEqual([]);
    clients.forEach((client) => client.close());
  });
});
