// Case 9: whatever a child answers, its caller gets one well-formed answer, and nobody else notices.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { afterAllTests } from '../support/atEnd.ts';
import { invokeMessage } from '../support/calls.ts';
import { expectRan } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStubs } from '../support/hostedStubs.ts';
import { callBytes, openRawClient } from '../support/rawClient.ts';

const TYPE = 'content-type: application/json\r\n';
const BODY = '{"v":2,"kind":"result","output":1}';
const GOOD = `HTTP/1.1 200 OK\r\n${TYPE}content-length: ${BODY.length}\r\n\r\n${BODY}`;
const withHeaders = (headers: string): string => GOOD.replace(TYPE, `${TYPE}${headers}`);

/** What the child writes, and the statuses its caller may get for it. */
const ANSWERS: [string, readonly number[], Readonly<Record<string, unknown>>][] = [
  ['bytes that are not HTTP', [500], { bytes: 'this is no answer at all\r\n\r\n' }],
  ['status 099', [500], { bytes: GOOD.replace('200 OK', '099 Odd') }],
  ['a control byte in the reason', [200, 500], { bytes: GOOD.replace('OK', 'O\x01K') }],
  ['a control byte in a header', [500], { bytes: withHeaders('x-odd: a\x01b\r\n') }],
  ['a header of 20 KB', [200, 500], { bytes: withHeaders(`x-long: ${'l'.repeat(20_000)}\r\n`) }],
  ['3,000 headers', [200, 500], { bytes: withHeaders('x-many: m\r\n'.repeat(3_000)) }],
  ['a length and chunked together', [500], { bytes: withHeaders('transfer-encoding: chunked\r\n') }],
  [
    '101 that nobody asked for',
    [500],
    { bytes: 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n' },
  ],
  ['204 with a body', [204], { bytes: `HTTP/1.1 204 No Content\r\n${TYPE}content-length: 5\r\n\r\nhello` }],
  ['a second answer right after the first', [200], { bytes: GOOD + GOOD.replace('"output":1', '"output":2') }],
  ['1xx without end', [500], { bytes: 'HTTP/1.1 103 Early Hints\r\n\r\n', times: 2_000, everyMs: 1 }],
  ['headers that never finish, then death', [500], { bytes: 'HTTP/1.1 200 OK\r\nx-a: ', ending: 'die', afterMs: 300 }],
];

/** One call on a connection of its own; returns everything that came within the answer's time. */
async function answerTo({ gateway, stubs }: HostedStubs<'a' | 'b'>, input: unknown): Promise<string> {
  const client = await openRawClient(gateway.port);
  client.send(callBytes(gateway, stubs.a.tenantId, invokeMessage(stubs.a.tenantId, { input })));
  await client.readUntil(/\r\n\r\n/);
  // A request behind it on the same connection: its answer must come next, and be its own.
  client.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await until('the connection’s next answer, or its end', () => client.isEnded() || /"ok"/.test(client.received()));
  client.close();
  return client.received();
}

describe('case 9: malformed answers from a child', () => {
  const atEnd = afterAllTests();
  let hosted: HostedStubs<'a' | 'b'>;

  // One gateway for all of them: it must outlive every one.
  beforeAll(async () => {
    // Deaths of the child are part of it; they must not cost the next test a delay.
    const settings = { restart: { min: '10ms', max: '10ms' } };
    hosted = await hostStubs({ a: { settings }, b: {} }, {}, atEnd);
  });

  it.each(ANSWERS)('%s', async (_, statuses, act) => {
    const { stubs } = hosted;
    const requestId = randomUUID();
    const undisturbed = stubs.b.invoke({ requestId, input: { act: 'sleep', ms: 1_500 } });
    await until('the long call runs', () => stubs.b.ranIds().includes(requestId));

    const input = { act: 'raw', ...act };
    const texts = [await answerTo(hosted, input), await answerTo(hosted, input)];
    const seen = texts.map((text) => Number(text.slice(9, 12)));
    expect(statuses).toContain(seen[0]);
    expect(seen[1]).toBe(seen[0]);
    for (const text of texts) {
      expect(text).not.toMatch(/retry-after/i);
      expect(text).not.toContain('"output":2');
      expect(text.match(/HTTP\/1\.1 /g)?.length).toBeLessThanOrEqual(2);
    }
    expectRan(await undisturbed);
    await until('the tenant is served again', async () => (await stubs.a.invoke()).status === 200);
  });
});
