import assert from 'node:assert/strict';
import { HEADER } from '../../protocol/headers.ts';
import { ECHO, echoBody, get, invoke, post } from '../client/call.ts';
import { outputOf, refusalOf } from '../client/message.ts';
import type { Headers } from '../client/request.ts';
import type { Service } from '../service.ts';
import { httpClause, processClause } from '../clause.ts';
import { serving } from './serving.ts';

const hello = { message: 'hello' };

async function isServed(service: Service, headers: Headers): Promise<void> {
  assert.deepEqual(outputOf(await invoke(service, ECHO, hello, { headers })), hello, JSON.stringify(headers));
}

async function isUnauthorised(service: Service, headers: Headers): Promise<void> {
  const call = await post(service, echoBody(service), { headers });
  refusalOf(call, 401);
  assert.ok(!call.headers.some(([name]) => name.toLowerCase() === 'www-authenticate'), 'www-authenticate');
  refusalOf(await get(service, '/v1/info', headers), 401);
}

function changeCase(text: string): string {
  return text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
}

/** Group A: request headers. */
export const headers = [
  httpClause('A15/token', 'without the right token both routes are 401', async (service) => {
    await isUnauthorised(service, { [HEADER.token]: null });
    await isUnauthorised(service, { [HEADER.token]: 'not-the-token-at-all' });
  }),

  httpClause('A15/authorization', '`Authorization` is no credential and never judged', async (service) => {
    await isServed(service, { authorization: 'Bearer of-somebody-else' });
    await isServed(service, { authorization: '' });
    await isUnauthorised(service, { [HEADER.token]: null, authorization: `Bearer ${service.token}` });
  }),

  httpClause(
    'A16/names',
    'header names have no letter case, and blanks around values do not count',
    async (service) => {
      await isServed(service, { [HEADER.token]: null, 'Kindgi-PACK-Token': service.token });
      await isServed(service, { [HEADER.token]: ` \t ${service.token} \t ` });
    },
  ),

  httpClause('A16/exact-token', 'a token that is nearly right is 401', async (service) => {
    for (const token of [
      changeCase(service.token),
      service.token.slice(0, -1),
      `${service.token}x`,
      `x${service.token}`,
      `"${service.token}"`,
    ]) {
      await isUnauthorised(service, { [HEADER.token]: token });
    }
  }),

  httpClause('A17/empty-token', 'an empty token is 401', async (service) => {
    await isUnauthorised(service, { [HEADER.token]: '' });
    await isUnauthorised(service, { [HEADER.token]: '  ' });
  }),

  httpClause('A17/token-twice', 'a token sent twice is 401, even when both are right', async (service) => {
    await isUnauthorised(service, { [HEADER.token]: [service.token, service.token] });
    await isUnauthorised(service, { [HEADER.token]: [service.token, 'other'] });
    await isUnauthorised(service, { [HEADER.token]: ['other', service.token] });
  }),

  httpClause('A18/ignored', 'protocol, run id and request id in headers change nothing', async (service) => {
    await isServed(service, { [HEADER.protocol]: '99', [HEADER.runId]: 'another', [HEADER.requestId]: '' });
    await isServed(service, { [HEADER.protocol]: 'x', [HEADER.runId]: 'ü', [HEADER.requestId]: ['a', 'b'] });
  }),

  processClause('A19/unpinned', 'a service without a pin takes any `kindgi-tenant-id`, or none', async (target) => {
    await serving(target, { tenantId: null }, async (service) => {
      for (const value of [null, '', 'anybody', ['one', 'two'], '00000000-0000-0000-0000-000000000000']) {
        await isServed(service, { [HEADER.tenantId]: value });
      }
      assert.equal((await get(service, '/v1/info', { [HEADER.tenantId]: 'anybody' })).status, 200);
    });
  }),

  httpClause('A20/traceparent', 'a `traceparent` is never a reason to refuse', async (service) => {
    for (const traceparent of [
      '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      '00-00000000000000000000000000000000-0000000000000000-00',
      'ff-x',
      '',
      '🙂',
    ]) {
      await isServed(service, { traceparent });
    }
  }),
];
