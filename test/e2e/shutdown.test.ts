// SIGTERM to the gateway: every child hears of it at once, calls in flight end, nothing is left.
import { describe, expect, it } from 'vitest';
import { invokeMessage } from '../support/calls.ts';
import { expectRan, expectTryAgain } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { callInFlight, termsOf } from '../support/inFlight.ts';
import { processesMentioning } from '../support/processes.ts';
import { callBytes, openRawClient, requestBytes } from '../support/rawClient.ts';

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
