import assert from 'node:assert/strict';
import { HEADER } from '../../protocol/headers.ts';
import { MAX_BODY_BYTES } from '../../protocol/limits.ts';
import { ECHO, INVOKE, echoBody, invokeMessage, post } from '../client/call.ts';
import { RawConnection } from '../client/connection.ts';
import { errorOf, outputOf, refusalOf } from '../client/message.ts';
import { encodeRequest } from '../client/request.ts';
import type { Headers, HeaderValue } from '../client/request.ts';
import type { Service } from '../service.ts';
import { httpClause } from '../clause.ts';

const hello = { message: 'hello' };

async function isAccepted(service: Service, contentType: HeaderValue): Promise<void> {
  const answer = await post(service, echoBody(service), { headers: { 'content-type': contentType } });
  assert.deepEqual(outputOf(answer), hello, String(contentType));
}

async function isRefused(service: Service, contentType: HeaderValue): Promise<void> {
  refusalOf(await post(service, echoBody(service), { headers: { 'content-type': contentType } }), 415);
}

/** Group A: the type of a body, and what is in it. */
export const content = [
  httpClause('A21/refused', 'a body that is not `application/json` is 415', async (service) => {
    for (const type of [
      null,
      '',
      'text/plain',
      'application/problem+json',
      'application/x-www-form-urlencoded',
      'json',
    ]) {
      await isRefused(service, type);
    }
  }),

  httpClause(
    'A21/parameters',
    '`application/json` is accepted with any parameters, and is UTF-8 whatever they say',
    async (service) => {
      for (const type of ['application/json', 'application/json; charset=utf-8', 'application/json;charset=utf-16']) {
        await isAccepted(service, type);
      }
      const body = echoBody(service, 'größe');
      const answer = await post(service, body, { headers: { 'content-type': 'application/json; charset=iso-8859-1' } });
      assert.deepEqual(outputOf(answer), { message: 'größe' });
    },
  ),

  httpClause('A22/letter-case', 'a media type has no letter case', async (service) => {
    await isAccepted(service, 'Application/JSON');
    await isAccepted(service, 'APPLICATION/JSON; Charset=UTF-8');
  }),

  httpClause('A22/whole-type', 'a type that only contains `application/json` is 415', async (service) => {
    for (const type of ['application/jsonx', 'text/application/json', 'text/plain, application/json']) {
      await isRefused(service, type);
    }
  }),

  httpClause('A23/two-types', 'of two types the first counts', async (service) => {
    await isAccepted(service, ['application/json', 'text/plain']);
    await isRefused(service, ['text/plain', 'application/json']);
  }),

  httpClause('A24/encoding', 'a `Content-Encoding` is ignored: nothing is decompressed', async (service) => {
    const answer = await post(service, echoBody(service), { headers: { 'content-encoding': 'gzip' } });
    assert.deepEqual(outputOf(answer), hello);
  }),

  httpClause(
    'A28/not-json',
    'a body that is not one JSON document in UTF-8 is `malformed-message`',
    async (service) => {
      const body = echoBody(service);
      for (const bad of [
        '',
        ' ',
        '{',
        'hello',
        `\ufeff${body}`,
        Buffer.from(body, 'utf16le'),
        body.replace('"hello"', 'NaN'),
        body.replace('"hello"', 'Infinity'),
        body.replace('"hello"', '-Infinity'),
        `${body} x`,
        `${body}${body}`,
        `${body.slice(0, -1)},}`,
        `// a comment\n${body}`,
      ]) {
        errorOf(await post(service, bad), 'malformed-message');
      }
    },
  ),

  httpClause('A28/invalid-utf8', 'bytes that are no UTF-8 are `malformed-message`', async (service) => {
    const [before, after] = echoBody(service, 'SPLIT').split('SPLIT');
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      const body = Buffer.concat([Buffer.from(before ?? ''), Buffer.from(bytes), Buffer.from(after ?? '')]);
      errorOf(await post(service, body), 'malformed-message');
    }
  }),

  httpClause('A29/duplicate-keys', 'of a key that is there twice the last counts', async (service) => {
    const body = echoBody(service, 'last').replace('"input":', '"input":{"message":"first"},"input":');
    assert.deepEqual(outputOf(await post(service, body)), { message: 'last' });
  }),

  httpClause(
    'A29/no-framing',
    'a POST that announces no body has an empty one: `malformed-message`',
    async (service) => {
      const connection = await RawConnection.open(service);
      try {
        const headers: Headers = { 'content-type': 'application/json' };
        connection.send(encodeRequest(service, { method: 'POST', path: INVOKE, headers }));
        errorOf(await connection.read(), 'malformed-message');
        connection.send(encodeRequest(service, { method: 'GET', path: '/healthz' }));
        assert.equal((await connection.read()).status, 200);
      } finally {
        connection.close();
      }
    },
  ),

  httpClause('A28/white-space', 'white space around the document is no error', async (service) => {
    assert.deepEqual(outputOf(await post(service, `\r\n\t ${echoBody(service)} \n`)), hello);
  }),

  httpClause('A24/limit', 'a body of exactly 10 MiB is accepted, with a length and chunked', async (service) => {
    const body = padded(service, MAX_BODY_BYTES);
    assert.deepEqual(outputOf(await post(service, body)), hello);
    assert.deepEqual(outputOf(await post(service, body, { framing: 65_536 })), hello);
  }),

  httpClause('A24/over-limit', 'one byte more is 413, with a length and chunked, padding included', async (service) => {
    const body = padded(service, MAX_BODY_BYTES + 1);
    refusalOf(await post(service, body), 413);
    refusalOf(await post(service, body, { framing: 65_536 }), 413);
  }),

  httpClause('A25/after-413', 'after a 413 the service serves the next call', async (service) => {
    refusalOf(await post(service, Buffer.alloc(MAX_BODY_BYTES + 1, 0x20)), 413);
    assert.deepEqual(outputOf(await post(service, echoBody(service))), hello);
  }),

  httpClause(
    'B5/413-before-context',
    'a body over the limit is 413 whatever tenant is in it',
    async (service) => {
      const message = JSON.stringify(invokeMessage(service, ECHO, hello, { ctx: { tenantId: 'somebody-else' } }));
      refusalOf(await post(service, message.padEnd(MAX_BODY_BYTES + 1)), 413);
    },
    ['A2'],
  ),

  httpClause('A26/early-answer', 'a refusal that needs no body does not wait for one', async (service) => {
    const announced = { 'content-type': 'application/json', 'content-length': '1000' };
    for (const [status, path, headers] of [
      [401, INVOKE, { [HEADER.token]: 'not-the-token-at-all' }],
      [404, '/v1/nothing', {}],
      [405, '/v1/info', {}],
      [415, INVOKE, { 'content-type': 'text/plain' }],
    ] as const) {
      const connection = await RawConnection.open(service);
      try {
        connection.send(encodeRequest(service, { method: 'POST', path, headers: { ...announced, ...headers } }));
        refusalOf(await connection.read({ withinMs: 3_000 }), status);
      } finally {
        connection.close();
      }
    }
  }),

  httpClause('A26/connection-lives', 'after such a refusal the connection serves the next request', async (service) => {
    const connection = await RawConnection.open(service);
    try {
      const body = echoBody(service);
      for (const [status, headers] of [
        [401, { [HEADER.token]: 'not-the-token-at-all' }],
        [415, { 'content-type': 'text/plain' }],
      ] as const) {
        connection.send(encodeRequest(service, { method: 'POST', path: INVOKE, headers, body }));
        refusalOf(await connection.read(), status);
      }
      connection.send(encodeRequest(service, { method: 'POST', path: INVOKE, body }));
      assert.deepEqual(outputOf(await connection.read()), hello);
    } finally {
      connection.close();
    }
  }),

  httpClause(
    'A26/expect-continue',
    'a caller that waits for `100 Continue` gets it, then its answer',
    async (service) => {
      const connection = await RawConnection.open(service);
      try {
        const body = echoBody(service);
        const headers: Headers = {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
          expect: '100-continue',
        };
        connection.send(encodeRequest(service, { method: 'POST', path: INVOKE, headers }));
        assert.equal((await connection.read({ withinMs: 3_000 })).status, 100);
        connection.send(body);
        assert.deepEqual(outputOf(await connection.read()), hello);
      } finally {
        connection.close();
      }
    },
  ),
];

/** A call of the echo tool, filled up with white space to this many bytes. */
function padded(service: Service, bytes: number): string {
  return echoBody(service).padEnd(bytes);
}
