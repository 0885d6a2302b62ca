import assert from 'node:assert/strict';
import { HEADER } from '../../protocol/headers.ts';
import { ECHO, SLEEP, check, echoBody, get, invoke, post } from '../client/call.ts';
import { RawConnection } from '../client/connection.ts';
import { errorOf, jsonOf, outputOf, refusalOf } from '../client/message.ts';
import { encodeRequest, exchange } from '../client/request.ts';
import { headerOf } from '../client/response.ts';
import { httpClause } from '../clause.ts';

/** Group A: what every answer looks like. */
export const answers = [
  httpClause('A10/json', 'every answer is compact JSON with its type and its length', async (service) => {
    for (const answer of [
      await invoke(service, ECHO, { message: 'hello' }),
      await invoke(service, 'conformance.nobody', {}),
      await get(service, '/v1/info'),
      await get(service, '/healthz'),
      await get(service, '/readyz'),
      await get(service, '/nothing'),
      await get(service, '/v1/info', { [HEADER.token]: null }),
      await exchange(service, { method: 'POST', path: '/v1/info' }),
      await post(service, '{}', { headers: { 'content-type': 'text/plain' } }),
    ]) {
      jsonOf(answer);
    }
  }),

  httpClause('A10/no-invoke-headers', 'the answer to info and to the probes has no invoke header', async (service) => {
    for (const path of ['/v1/info', '/healthz', '/readyz']) {
      const answer = await get(service, path);
      assert.equal(headerOf(answer, HEADER.durationMs), undefined, path);
      assert.equal(headerOf(answer, HEADER.artifactVersion), undefined, path);
    }
  }),

  httpClause(
    'A11/result',
    'a result carries the time it took and the artifact version of the index',
    async (service) => {
      const answer = await invoke(service, SLEEP, { ms: 120 });
      assert.deepEqual(outputOf(answer), { slept: 120 });
      assert.equal(headerOf(answer, HEADER.artifactVersion), service.expectedInfo.artifactVersion);
      const durationMs = Number(headerOf(answer, HEADER.durationMs));
      assert.ok(durationMs >= 100 && durationMs <= answer.tookMs + 20, `${durationMs} ms of ${answer.tookMs} ms`);
    },
  ),

  httpClause('A11/error', 'an error message carries both headers as well', async (service) => {
    for (const answer of [
      await post(service, '{'),
      await invoke(service, 'conformance.nobody', {}),
      await invoke(service, SLEEP, { ms: 10_000 }, { headers: { [HEADER.timeoutMs]: '100' } }),
      await check(service, 'conformance.checks.nobody', {}, {}),
    ]) {
      assert.equal(headerOf(answer, HEADER.artifactVersion), service.expectedInfo.artifactVersion);
      assert.match(headerOf(answer, HEADER.durationMs) ?? 'none', /^\d+$/);
    }
  }),

  httpClause('A12/no-echo', 'a 404 repeats nothing of the query', async (service) => {
    const answer = await get(service, '/v1/nothing?token=very-secret-value');
    refusalOf(answer, 404);
    assert.ok(!answer.body.includes('very-secret-value'), answer.body.toString());
  }),

  httpClause('A14/deep-json', 'JSON nested far too deep is malformed, and the service goes on', async (service) => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const answer = await post(service, echoBody(service).replace('"hello"', deep));
    assert.deepEqual(outputOf(await invoke(service, ECHO, { message: 'still here' })), { message: 'still here' });
    errorOf(answer, 'malformed-message');
  }),

  httpClause('A32/large-answer', 'an answer may be as large as a request', async (service) => {
    const message = 'ä'.repeat(4_000_000);
    const answer = await invoke(service, ECHO, { message });
    assert.deepEqual(outputOf(answer), { message });
  }),

  httpClause('A32a/bytes', 'text of any kind comes back as it was sent', async (service) => {
    const message = 'naïve – 日本語 – 👩‍🚀 – \u0000\u001f\u2028 "\\" – \ud83d\ude00';
    assert.deepEqual(outputOf(await invoke(service, ECHO, { message })), { message });
  }),

  httpClause('A43/keep-alive', 'a connection serves one request after the other', async (service) => {
    const connection = await RawConnection.open(service);
    try {
      for (const message of ['one', 'two', 'three']) {
        connection.send(
          encodeRequest(service, { method: 'POST', path: '/v1/invoke', body: echoBody(service, message) }),
        );
        assert.deepEqual(outputOf(await connection.read()), { message });
      }
      connection.send(encodeRequest(service, { method: 'GET', path: '/v1/nothing' }));
      refusalOf(await connection.read(), 404);
      connection.send(encodeRequest(service, { method: 'GET', path: '/healthz' }));
      assert.equal((await connection.read()).status, 200);
    } finally {
      connection.close();
    }
  }),
];
