// SIGTERM to the gateway: every child hears of it at once, calls in flight end, nothing is left.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { invokeMessage } from '../support/calls.ts';
import { expectRan, expectTryAgain } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStub } from '../support/hostedStubs.ts';
import { processesMentioning } from '../support/processes.ts';
import { callBytes, openRawClient, requestBytes } from '../support/rawClient.ts';

/** Starts a call and returns when the child has it. The answer is wrapped, so that it is not awaited here. */
async function callInFlight(stub: HostedStub, ms: number) {
  const requestId = randomUUID();
  const answer = stub.invoke({ requestId, input: { act: 'sleep', ms } });
  // Judged later; until then a failure must not count as unhandled.
  answer.catch(() => undefined);
  await until('the call runs', () => stub.ranIds().includes(requestId));
  return { answer };
}

function termsOf(...stubs: HostedStub[]): number[] {
  return stubs.flatMap((stub) => {
    const signals = stub.events('signal');
    expect(signals.map(({ signal }) => signal)).toEqual(['SIGTERM']);
    return signals.map(({ at }) => at);
  });
}

describe('shutdown', () => {
  it('calls in flight on three tenants finish; one SIGTERM each within 100 ms; exit 0; nothing is left', async () => {
    const { folder, gateway, stubs } = await hostStubs({ a: {}, b: {}, c: {} });
    const all = [stubs.a, stubs.b, stubs.c];
    const calls = [];
    for (const stub of all) calls.push(await callInFlight(stub, 2_000));
    gateway.signal('SIGTERM');
    for (const { answer } of calls) expectRan(await answer);
    expect(await gateway.exit).toEqual({ code: 0, signal: null });
    const terms = termsOf(...all);
    expect(Math.max(...terms) - Math.min(...terms)).toBeLessThanOrEqual(100);
    expect(processesMentioning(folder)).toEqual([]);
  });

  it('while it drains, a new call on an open connection is 503, and so is /readyz, but not /healthz', async () => {
    const { gateway, stubs } = await hostStubs({ a: {}, b: {} });
    const { tenantId } = stubs.b;
    const open = async () => {
      const client = await openRawClient(gateway.port);
      client.send(callBytes(gateway, tenantId, invokeMessage(tenantId)));
      await client.readUntil(/"kind":"result"/);
      return client;
    };
    const [calling, asking, looking] = [await open(), await open(), await open()];
    const { answer } = await callInFlight(stubs.a, 1_500);
    gateway.signal('SIGTERM');
    await until('the drain has begun', () => stubs.a.events('signal').length === 1);

    calling.send(callBytes(gateway, tenantId, invokeMessage(tenantId)));
    const refused = (await calling.readUntil(/draining/)).split('"kind":"result"')[1] ?? '';
    expect(refused).toMatch(/HTTP\/1\.1 503 /);
    expect(refused).toMatch(/retry-after: [1-9]/i);
    asking.send(requestBytes({ method: 'GET', target: '/readyz' }));
    expect(await asking.readUntil(/draining/)).toMatch(/HTTP\/1\.1 503 /);
    looking.send(requestBytes({ method: 'GET', target: '/healthz' }));
    await looking.readUntil(/"status":"ok"/);

    expectRan(await answer);
    expect((await gateway.exit).code).toBe(0);
    expect(stubs.b.runs()).toHaveLength(3);
  });

  it('callers who wait for a start are told to try again, and the booting child is ended', async () => {
    const { folder, gateway, stubs } = await hostStubs({ a: { behaviour: { bootDelayMs: 20_000 } } });
    const waiting = stubs.a.invoke();
    await until('the child boots', () => stubs.a.starts().length === 1);
    expect((await gateway.stop()).code).toBe(0);
    expectTryAgain(await waiting, 'draining');
    expect(processesMentioning(folder)).toEqual([]);
  });

  it('SIGINT drains like SIGTERM', async () => {
    const { folder, gateway, stubs } = await hostStubs({ a: {} });
    const { answer } = await callInFlight(stubs.a, 800);
    gateway.signal('SIGINT');
    expectRan(await answer);
    expect((await gateway.exit).code).toBe(0);
    termsOf(stubs.a);
    expect(processesMentioning(folder)).toEqual([]);
  });
});

describe('case 12: a stubborn child and idle connections', () => {
  it('everybody gets one SIGTERM, who does not go is killed in time, the others’ calls end well', async () => {
    const drain = '3s';
    const { folder, gateway, stubs } = await hostStubs({
      a: { settings: { drain: '6s' } },
      b: { behaviour: { onTerminate: 'ignore' }, settings: { drain } },
      c: {},
    });
    expectRan(await stubs.c.invoke());
    const toA = await callInFlight(stubs.a, 3_500);
    const toB = await callInFlight(stubs.b, 600_000);
    const clients = await idleClients(gateway.port);
    const from = performance.now();
    gateway.signal('SIGTERM');
    expectRan(await toA.answer);
    const outcome = await toB.answer.then(
      ({ status }) => status,
      () => 'cut',
    );
    const endedAfterMs = performance.now() - from;
    expect([500, 'cut']).toContain(outcome);
    expect((await gateway.exit).code).toBe(0);
    const goneAfterMs = performance.now() - from;
    // `drain` of 3 s plus the 3 s of a command.
    expect(endedAfterMs).toBeGreaterThan(5_500);
    expect(endedAfterMs).toBeLessThan(7_000);
    expect(goneAfterMs - endedAfterMs).toBeLessThan(1_000);
    const terms = termsOf(stubs.a, stubs.b, stubs.c);
    expect(Math.max(...terms) - Math.min(...terms)).toBeLessThanOrEqual(100);
    expect(processesMentioning(folder)).toEqual([]);
    clients.forEach((client) => client.close());
  });

  it('idle and half-open connections do not hold it', async () => {
    const { gateway, stubs } = await hostStubs({ a: {} });
    expectRan(await stubs.a.invoke());
    const clients = await idleClients(gateway.port);
    const from = performance.now();
    expect((await gateway.stop()).code).toBe(0);
    expect(performance.now() - from).toBeLessThan(1_000);
    clients.forEach((client) => client.close());
  });
});

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
