// Case 6: the child dies in the middle of its answer. The caller must see that it is not whole.
import { describe, expect, it } from 'vitest';
import { invokeMessage } from '../support/calls.ts';
import { expectRan } from '../support/expectations.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { callBytes, openRawClient } from '../support/rawClient.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

const ROUNDS = 5;

describe('case 6: the child dies in the middle of its answer', () => {
  it.each([
    ['a: after one chunk of a chunked answer', `${HEAD}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`],
    ['b: after 5 of 10 announced bytes', `${HEAD}content-length: 10\r\n\r\nhello`],
  ])(
    '%s the caller gets those bytes, then is cut; one error is logged; the next call works',
    async (_, bytes) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { gateway, stubs } = await hostStubs({ a: {} });
        expectRan(await stubs.a.invoke());
        const { tenantId } = stubs.a;
        const body = invokeMessage(tenantId, { input: { act: 'raw', bytes, ending: 'die', afterMs: 300 } });
        const client = await openRawClient(gateway.port);
        client.send(callBytes(gateway, tenantId, body));
        await client.readUntil(/hello/);
        const answer = await client.readToEnd(300 + 1_000);
        expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
        expect(answer.endsWith('0\r\n\r\n')).toBe(false);
        expectRan(await stubs.a.invoke());
        expect(stubs.a.starts()).toHaveLength(2);
        expect((await gateway.stop()).code).toBe(0);
        expect(gateway.records.filter(({ level }) => level === 'error')).toHaveLength(1);
      }
    },
    60_000,
  );
});
