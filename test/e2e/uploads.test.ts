// An upload that stalls gives its room back; one that is only slow is served; neither costs another tenant anything.
import { describe, expect, it, onTestFinished } from 'vitest';
import { invokeMessage, invokeMessageOf } from '../support/calls.ts';
import { expectRan } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import type { Gateway } from '../support/gateway.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStub } from '../support/hostedStubs.ts';
import { callBytes, openRawClient, rawCallHeaders, requestBytes } from '../support/rawClient.ts';
import type { RawClient } from '../support/rawClient.ts';
import { callTimesOf, percentile } from '../support/timing.ts';
import { printFigures } from '../support/printFigures.ts';

/** An upload without a byte for this long is closed. */
const STALL_MS = 10_000;

describe('uploads', () => {
  it('one without a byte for 10 s is closed and never runs; one that keeps sending is served', async () => {
    const { gateway, stubs } = await hostStubs({ a: {} });
    const { tenantId } = stubs.a;
    const bytes = callBytes(gateway, tenantId, invokeMessage(tenantId, { requestId: 'slow' }));
    const [stalled, slow] = [await openRawClient(gateway.port), await openRawClient(gateway.port)];
    const from = performance.now();
    stalled.send(bytes.subarray(0, bytes.length - 10));
    slow.send(bytes.subarray(0, bytes.length - 10));
    let sent = bytes.length - 10;
    const sending = setInterval(() => slow.send(bytes.subarray(sent, (sent += 1))), 1_400);
    try {
      await until('the stalled upload is closed', stalled.isEnded, STALL_MS * 1.3);
      const closedAfterMs = performance.now() - from;
      expect(closedAfterMs).toBeGreaterThan(STALL_MS * 0.8);
      await slow.readUntil(/"kind":"result"/, STALL_MS);
    } finally {
      clearInterval(sending);
    }
    expect(stubs.a.ranIds()).toEqual(['slow']);
    expectRan(await stubs.a.invoke());
  }, 40_000);

  it('an upload waits for its own tenant’s room, not for another’s, and is served when there is some', async () => {
    // A quarter of it holds one body of unknown length, and not two.
    const { gateway, stubs } = await hostStubs({ a: {}, b: {} }, { configuration: { bodies: '44MiB' } });
    const open = async (stub: HostedStub) => {
      const client = await openRawClient(gateway.port);
      const body = invokeMessage(stub.tenantId);
      const framing = [
        ['Transfer-Encoding', 'chunked'],
        ['Expect', '100-continue'],
      ] as const;
      client.send(requestBytes({ headers: [...rawCallHeaders(gateway, stub.tenantId), ...framing] }));
      return { client, finish: () => client.send(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`) };
    };
    const holding = await open(stubs.a);
    await holding.client.readUntil(/^HTTP\/1\.1 100 /);
    // One that were quiet for a second would have to give way.
    const sending = setInterval(() => holding.client.send('1\r\n \r\n'), 200);
    onTestFinished(() => clearInterval(sending));
    const waiting = await open(stubs.a);
    const other = await open(stubs.b);
    await other.client.readUntil(/^HTTP\/1\.1 100 /);
    other.finish();
    await other.client.readUntil(/"kind":"result"/);
    expect(waiting.client.received()).toBe('');
    clearInterval(sending);
    holding.finish();
    await holding.client.readUntil(/"kind":"result"/);
    await waiting.client.readUntil(/^HTTP\/1\.1 100 /);
    waiting.finish();
    await waiting.client.readUntil(/"kind":"result"/);
    expect([stubs.a.runs().length, stubs.b.runs().length]).toEqual([2, 1]);
  });

  it('a chunked call that runs keeps only the room it needs', async () => {
    // A quarter of it holds one body of unknown length, and not two.
    const { gateway, stubs } = await hostStubs({ a: {} }, { configuration: { bodies: '44MiB' } });
    const chunked = async (requestId: string, ms: number) => {
      const client = await openRawClient(gateway.port);
      const body = invokeMessage(stubs.a.tenantId, { requestId, input: { act: 'sleep', ms } });
      const headers = [...rawCallHeaders(gateway, stubs.a.tenantId), ['Transfer-Encoding', 'chunked']] as const;
      client.send(requestBytes({ headers }));
      client.send(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
      return client;
    };
    const long = await chunked('long', 3_000);
    await until('the long call runs', () => stubs.a.ranIds().includes('long'));
    await (await chunked('short', 1)).readUntil(/"kind":"result"/, 2_000);
    expect(long.received()).toBe('');
    await long.readUntil(/"kind":"result"/);
  });

  it('20 stalled ones of one tenant, or a quarter each of four: a neighbour’s calls are as without them', async () => {
    const { gateway, stubs } = await hostStubs({ a: {}, b: {}, c: {}, d: {}, neighbour: {} });
    for (const stub of Object.values(stubs)) expectRan(await stub.invoke());
    await callTimesOf(stubs.neighbour, { atLeast: 200 });
    const quiet = await callTimesOf(stubs.neighbour, { atLeast: 200 });

    const stalled: RawClient[] = [];
    for (let one = 0; one < 20; one += 1) stalled.push(await openStalled(gateway, stubs.a));
    const oneStalls = await callTimesOf(stubs.neighbour, { atLeast: 200 });
    for (const hog of [stubs.b, stubs.c, stubs.d]) {
      for (let one = 0; one < 20; one += 1) stalled.push(await openStalled(gateway, hog));
    }
    const fourStall = await callTimesOf(stubs.neighbour, { atLeast: 200 });
    // Nobody waits for their room, so they have kept it all the time.
    expect(stalled.some((client) => client.isEnded())).toBe(false);

    const [without, withOne, withFour] = [quiet, oneStalls, fourStall].map((times) => ({
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
    }));
    const text = [without, withOne, withFour].map((of) => `p50 ${of?.p50.toFixed(2)} p99 ${of?.p99.toFixed(2)} ms`);
    printFigures(`a neighbour’s calls: ${text[0]}; one tenant stalls: ${text[1]}; four stall: ${text[2]}`);
    for (const loud of [withOne, withFour]) expect(loud?.p99).toBeLessThan(5 * (without?.p99 ?? NaN) + 20);

    // A large body of the neighbour has no room of its own: those that stall give way to it, and may try again.
    const from = performance.now();
    expectRan(await stubs.neighbour.post(invokeMessageOf(4_000_000, stubs.neighbour.tenantId)));
    expect(performance.now() - from).toBeLessThan(4_000);
    const gaveWay = await until('some have given way', () => {
      const ended = stalled.filter((client) => client.received() !== '');
      return ended.length > 0 && ended;
    });
    for (const client of gaveWay) expect(client.received()).toMatch(/^HTTP\/1\.1 503 .*retry-after: .*bodies-full/is);
    expect(gaveWay.length).toBeLessThan(stalled.length);
    stalled.forEach((client) => client.close());
  }, 60_000);
});

/** Twenty of them fill a tenant's quarter of the default 64 MiB. */
const STALLED_BYTES = 830_000;

/** Sends half of a call and then nothing. */
async function openStalled(gateway: Gateway, stub: HostedStub): Promise<RawClient> {
  const client = await openRawClient(gateway.port);
  const bytes = callBytes(gateway, stub.tenantId, invokeMessageOf(STALLED_BYTES, stub.tenantId));
  client.send(bytes.subarray(0, STALLED_BYTES / 2));
  return client;
}
