// Case 8: a body of exactly 10 MiB passes in every framing, one byte more never runs, and the uploader reads why.
import { describe, expect, it } from 'vitest';
import { MAX_BODY_BYTES } from '../../shared/protocol/limits.ts';
import { invokeMessageOf } from '../support/calls.ts';
import type { CallOptions } from '../support/calls.ts';
import { expectRan } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import type { Gateway } from '../support/gateway.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { residentBytes } from '../support/processes.ts';
import { callBytes, openRawClient, rawCallHeaders, requestBytes } from '../support/rawClient.ts';

/** A whole call on the wire. */
type Framing = (gateway: Gateway, tenantId: string, body: Buffer) => Buffer;

/** The body in one large chunk, but for its last bytes, which are a chunk each. */
const chunkedWith =
  (singleBytes: number): Framing =>
  (gateway, tenantId, body) => {
    const large = body.subarray(0, body.length - singleBytes);
    const singles = Buffer.alloc(singleBytes * 6, '1\r\nx\r\n', 'latin1');
    for (let at = 0; at < singleBytes; at += 1) singles[at * 6 + 3] = body[large.length + at] ?? 0;
    const head = requestBytes({ headers: [...rawCallHeaders(gateway, tenantId), ['Transfer-Encoding', 'chunked']] });
    const chunk = large.length === 0 ? [] : [`${large.length.toString(16)}\r\n`, large, '\r\n'];
    return Buffer.concat([head, ...chunk, singles, '0\r\n\r\n'].map((part) => Buffer.from(part)));
  };

const FRAMINGS: [string, Framing][] = [
  ['with a length', callBytes],
  ['chunked', chunkedWith(0)],
  ['with its last 100,000 bytes in chunks of one byte', chunkedWith(100_000)],
];

/** Sends a call of so many bytes and returns its status. */
async function statusOf(gateway: Gateway, tenantId: string, bodyBytes: number, framing: Framing): Promise<number> {
  const client = await openRawClient(gateway.port);
  client.send(framing(gateway, tenantId, invokeMessageOf(bodyBytes, tenantId)));
  const answer = await client.readUntil(/^HTTP\/1\.1 \d{3} [^]*\r\n\r\n/, 120_000);
  client.close();
  return Number(answer.slice(9, 12));
}

describe('case 8: exactly 10 MiB', () => {
  it.each(FRAMINGS)('10,485,760 bytes pass, %s', async (_, framing) => {
    const { gateway, stubs } = await hostStubs({ a: {} });
    expect(await statusOf(gateway, stubs.a.tenantId, MAX_BODY_BYTES, framing)).toBe(200);
    expect(stubs.a.runs().map(({ bodyBytes }) => bodyBytes)).toEqual([MAX_BODY_BYTES]);
  });

  // Node's parser takes 2 µs for a chunk: half a minute for one call, so this is done once and in one size only.
  it('10,485,760 bytes pass with every byte a chunk, and the gateway does not grow by a multiple of them', async () => {
    const { gateway, stubs } = await hostStubs({ a: {} });
    expectRan(await stubs.a.invoke());
    const beforeBytes = residentBytes(gateway.pid);
    const status = await statusOf(gateway, stubs.a.tenantId, MAX_BODY_BYTES, chunkedWith(MAX_BODY_BYTES));
    expect(status).toBe(200);
    expect(residentBytes(gateway.pid) - beforeBytes).toBeLessThan(128 * 1024 * 1024);
    expect(stubs.a.runs().at(-1)?.bodyBytes).toBe(MAX_BODY_BYTES);
  }, 150_000);

  it.each(FRAMINGS)('10,485,761 bytes are 413 and never run, %s', async (_, framing) => {
    const { gateway, stubs } = await hostStubs({ a: {} });
    expect(await statusOf(gateway, stubs.a.tenantId, MAX_BODY_BYTES + 1, framing)).toBe(413);
    // A call after it is served: what was refused is not waiting somewhere.
    expectRan(await stubs.a.invoke());
    expect(stubs.a.runs()).toHaveLength(1);
  });

  it('an announced 10,485,761 bytes start no child', async () => {
    const { gateway, stubs } = await hostStubs({ a: {} });
    expect(await statusOf(gateway, stubs.a.tenantId, MAX_BODY_BYTES + 1, callBytes)).toBe(413);
    expect(stubs.a.starts()).toEqual([]);
  });

  it('a client that asks for the connection to be closed reads its 413, in at least 99 of 100', async () => {
    const { stubs } = await hostStubs({ a: {} });
    const upload = Buffer.alloc(MAX_BODY_BYTES + 1_000_000, 'x');
    let complete = 0;
    for (let time = 0; time < 100; time += 1) {
      const status = await stubs.a.post(upload, { headers: { connection: 'close' } }).then(
        (answer) => answer.status,
        () => 'lost',
      );
      if (status === 413) complete += 1;
    }
    expect(complete).toBeGreaterThanOrEqual(99);
  }, 120_000);

  it('uploaders of 50 MB at full speed read a complete 413, in at least 99 of 100', async () => {
    const { gateway, stubs } = await hostStubs({ a: {} });
    const upload = Buffer.alloc(50_000_000, 'x');
    let complete = 0;
    for (let time = 0; time < 100; time += 1) {
      if (isCompleteRefusal(await uploadAtFullSpeed(gateway, stubs.a.tenantId, upload, {}), 413)) complete += 1;
    }
    expect(complete).toBeGreaterThanOrEqual(99);
    const wrong = await uploadAtFullSpeed(gateway, stubs.a.tenantId, upload, { token: 'not-the-token' });
    expect(isCompleteRefusal(wrong, 401)).toBe(true);
    expect(stubs.a.starts()).toEqual([]);
  }, 120_000);

  it('a length beyond all numbers is 400 or 413', async () => {
    const { gateway, stubs } = await hostStubs({ a: {} });
    const client = await openRawClient(gateway.port);
    const headers = [...rawCallHeaders(gateway, stubs.a.tenantId), ['Content-Length', '99999999999999999999']] as const;
    client.send(requestBytes({ headers, body: '{}' }));
    expect(await client.readUntil(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 4(?:00|13) /);
    expect(stubs.a.starts()).toEqual([]);
  });

  it('an upload cut in the middle never runs', async () => {
    const { gateway, stubs } = await hostStubs({ a: {} });
    const body = invokeMessageOf(1_000_000, stubs.a.tenantId);
    const bytes = callBytes(gateway, stubs.a.tenantId, body);
    const client = await openRawClient(gateway.port);
    client.send(bytes.subarray(0, bytes.length - 500_000));
    client.halfClose();
    await until('the gateway lets the connection go', client.isEnded);
    client.close();
    expectRan(await stubs.a.invoke());
    expect(stubs.a.runs()).toHaveLength(1);
  });
});

/** Writes as fast as the connection takes it and returns what came back until the connection's end or a whole answer. */
async function uploadAtFullSpeed(gateway: Gateway, tenantId: string, upload: Buffer, options: CallOptions) {
  const client = await openRawClient(gateway.port);
  client.send(callBytes(gateway, tenantId, upload, options));
  await until('an answer or the end', () => client.isClosed() || isWhole(client.received()), 20_000);
  client.close();
  return client.received();
}

function isWhole(answer: string): boolean {
  const [head, body] = answer.split('\r\n\r\n');
  const length = /^content-length: (\d+)$/im.exec(head ?? '')?.[1];
  return length !== undefined && body?.length === Number(length);
}

function isCompleteRefusal(answer: string, status: number): boolean {
  return answer.startsWith(`HTTP/1.1 ${status} `) && isWhole(answer);
}
