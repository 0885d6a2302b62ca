import assert from 'node:assert/strict';
import { HEADER } from '../../protocol/headers.ts';
import { MAX_BODY_BYTES } from '../../protocol/limits.ts';
import { ECHO, INVOKE, echoBody, get, invoke, invokeMessage, post } from '../client/call.ts';
import { RawConnection } from '../client/connection.ts';
import { errorOf, jsonOf, objectOf, outputOf, refusalOf } from '../client/message.ts';
import { encodeRequest, exchange } from '../client/request.ts';
import { headerOf } from '../client/response.ts';
import { httpClause } from '../clause.ts';
import { foreignTenant } from './foreign.ts';

const KNOWN = [INVOKE, '/v1/info', '/healthz', '/readyz'] as const;

/** Group A: the four routes, their methods, and the order in which a call is checked. */
export const routes = [
  httpClause('A1/routes', 'four routes answer: invoke, info and the two probes', async (service) => {
    assert.deepEqual(outputOf(await invoke(service, ECHO, { message: 'hello' })), { message: 'hello' });
    const info = await get(service, '/v1/info');
    assert.equal(info.status, 200);
    assert.equal(objectOf(jsonOf(info), 'info').protocol, 2);
    for (const [path, status] of [['/healthz', 'ok'] as const, ['/readyz', 'ready'] as const]) {
      const probe = await get(service, path, { [HEADER.token]: null, [HEADER.tenantId]: null });
      assert.equal(probe.status, 200, path);
      assert.deepEqual(jsonOf(probe), { status }, path);
    }
  }),

  httpClause('A1/nothing-else', 'any other path is 404', async (service) => {
    for (const path of ['/', '/v1', '/v1/', '/v1/invoke/x', '/v2/invoke', '/metrics', '/favicon.ico']) {
      refusalOf(await get(service, path), 404);
      refusalOf(await exchange(service, { method: 'POST', path, body: '{}' }), 404);
    }
  }),

  httpClause('A2/404-before-401', 'an unknown path is 404 also without a token', async (service) => {
    refusalOf(await get(service, '/v1/nothing', { [HEADER.token]: null }), 404);
  }),

  httpClause('A2/405-before-401', 'a wrong method is 405 also without a token', async (service) => {
    refusalOf(await get(service, INVOKE, { [HEADER.token]: null }), 405);
  }),

  httpClause('A2/401-before-421', 'a wrong token is 401 also with a foreign tenant', async (service) => {
    const headers = { [HEADER.token]: 'not-the-token-at-all', [HEADER.tenantId]: foreignTenant(service) };
    refusalOf(await post(service, echoBody(service), { headers }), 401);
    refusalOf(await get(service, '/v1/info', headers), 401);
  }),

  httpClause('A2/401-before-415', 'a wrong token is 401 also with a body that is not JSON', async (service) => {
    const headers = { [HEADER.token]: 'not-the-token-at-all', 'content-type': 'text/plain' };
    refusalOf(await post(service, 'hello', { headers }), 401);
  }),

  httpClause('A2/401-before-413', 'a wrong token is 401 also with a body over the limit', async (service) => {
    const headers = { [HEADER.token]: 'not-the-token-at-all' };
    refusalOf(await post(service, Buffer.alloc(MAX_BODY_BYTES + 1, 0x20), { headers }), 401);
  }),

  httpClause(
    'A2/421-before-415',
    'a foreign tenant is 421 also with a body that is not JSON',
    async (service) => {
      const headers = { [HEADER.tenantId]: foreignTenant(service), 'content-type': 'text/plain' };
      refusalOf(await post(service, 'hello', { headers }), 421);
    },
    ['B4'],
  ),

  httpClause('A2/415-before-message', 'a body of another type is 415 whatever is in it', async (service) => {
    const headers = { 'content-type': 'text/plain' };
    refusalOf(await post(service, '{', { headers }), 415);
    refusalOf(await post(service, echoBody(service), { headers }), 415);
  }),

  httpClause(
    'A2/shape-before-context',
    'a malformed context is told before a foreign tenant in it',
    async (service) => {
      const message = invokeMessage(service, ECHO, {}, { ctx: { tenantId: foreignTenant(service), runId: 7 } });
      errorOf(await post(service, JSON.stringify(message)), 'malformed-message');
    },
    ['B5'],
  ),

  httpClause('A4/exact-path', 'a path that only looks like a known one is 404', async (service) => {
    for (const path of [
      '/healthz/',
      '/HEALTHZ',
      '//healthz',
      '/Healthz',
      '/healthz#a',
      '/v1/Info',
      '/v1/./info',
      '/v1//info',
    ]) {
      refusalOf(await get(service, path), 404);
    }
    refusalOf(await get(service, `http://${service.host}:${service.port}/healthz`), 404);
    refusalOf(
      await post(service, echoBody(service)).then(() =>
        exchange(service, { method: 'POST', path: '/v1/invoke/', body: echoBody(service) }),
      ),
      404,
    );
  }),

  httpClause('A4/query', 'a query changes nothing', async (service) => {
    assert.equal((await get(service, '/v1/info?a=b')).status, 200);
    assert.equal((await get(service, '/healthz?')).status, 200);
    const called = await exchange(service, { method: 'POST', path: `${INVOKE}?x=/healthz`, body: echoBody(service) });
    assert.deepEqual(outputOf(called), { message: 'hello' });
  }),

  httpClause('A5/raw-path', 'a percent-encoded path is not decoded: 404', async (service) => {
    refusalOf(await get(service, '/%68ealthz'), 404);
    refusalOf(await get(service, '/v1%2Finfo'), 404);
  }),

  httpClause('A6/head', 'HEAD is 405 without a body on every route, and the connection goes on', async (service) => {
    const connection = await RawConnection.open(service);
    try {
      for (const path of KNOWN) {
        connection.send(encodeRequest(service, { method: 'HEAD', path }));
        const answer = await connection.read({ isHead: true });
        assert.equal(answer.status, 405, path);
        assert.match(
          headerOf(answer, 'content-length') ?? '0',
          /^[1-9]\d*$/,
          'content-length of the body it would have',
        );
      }
      connection.send(encodeRequest(service, { method: 'GET', path: '/healthz' }));
      assert.equal((await connection.read()).status, 200);
      assert.equal(connection.unread, 0, 'bytes that belong to no answer');
    } finally {
      connection.close();
    }
  }),

  httpClause(
    'A6/options',
    'OPTIONS is 405, `OPTIONS *` is 404, and nothing allows another origin',
    async (service) => {
      for (const path of KNOWN) {
        const answer = await exchange(service, { method: 'OPTIONS', path, headers: { origin: 'http://example.com' } });
        refusalOf(answer, 405);
        assert.equal(headerOf(answer, 'access-control-allow-origin'), undefined);
      }
      refusalOf(await exchange(service, { method: 'OPTIONS', path: '*' }), 404);
    },
    ['A4'],
  ),

  httpClause('A6/methods', 'the other methods are 405, with the right one in the text', async (service) => {
    for (const [method, path, right] of [
      ['GET', INVOKE, 'POST'],
      ['PUT', INVOKE, 'POST'],
      ['DELETE', '/v1/info', 'GET'],
      ['POST', '/v1/info', 'GET'],
      ['POST', '/healthz', 'GET'],
      ['PATCH', '/readyz', 'GET'],
    ] as const) {
      const answer = await exchange(service, { method, path, ...(method !== 'GET' && { body: '{}' }) });
      assert.match(String(refusalOf(answer, 405).error), new RegExp(`\\b${right}\\b`), `${method} ${path}`);
      assert.equal(headerOf(answer, 'allow'), undefined, 'allow');
    }
  }),

  httpClause('A7/get-with-body', 'a body on a GET is ignored', async (service) => {
    const connection = await RawConnection.open(service);
    try {
      for (const path of ['/healthz', '/v1/info']) {
        connection.send(encodeRequest(service, { method: 'GET', path, body: 'some text' }));
        assert.equal((await connection.read()).status, 200, path);
      }
    } finally {
      connection.close();
    }
  }),
];
