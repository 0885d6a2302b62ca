import assert from 'node:assert/strict';
import { HEADER } from '../../protocol/headers.ts';
import { NO_TENANT_ID } from '../../protocol/tenantId.ts';
import { ECHO, check, echoBody, get, invoke, invokeMessage, post } from '../client/call.ts';
import { errorOf, jsonOf, outputOf, refusalOf, verdictOf } from '../client/message.ts';
import type { HeaderValue } from '../client/request.ts';
import type { RawResponse } from '../client/response.ts';
import { httpClause } from '../clause.ts';
import type { Service } from '../service.ts';
import { foreignTenant, ownTenant as own } from './foreign.ts';

const hello = { message: 'hello' };

function withHeader(service: Service, tenant: HeaderValue): Promise<RawResponse> {
  return invoke(service, ECHO, hello, { headers: { [HEADER.tenantId]: tenant } });
}

function withContext(service: Service, tenantId: unknown, toolId = ECHO): Promise<RawResponse> {
  return invoke(service, toolId, hello, { ctx: { tenantId } });
}

/** Group B: whom a call is for, as any caller sees it. */
export const tenant = [
  httpClause('B1/header-missing', 'a call without `kindgi-tenant-id` is 421, and so is info', async (service) => {
    own(service);
    refusalOf(await withHeader(service, null), 421);
    refusalOf(await get(service, '/v1/info', { [HEADER.tenantId]: null }), 421);
  }),

  httpClause('B1/header-foreign', 'a call for another tenant is 421, and so is info', async (service) => {
    for (const value of [foreignTenant(service), NO_TENANT_ID, 'x', '*', `${own(service)}0`, own(service).slice(1)]) {
      refusalOf(await withHeader(service, value), 421);
      refusalOf(await get(service, '/v1/info', { [HEADER.tenantId]: value }), 421);
    }
  }),

  httpClause('B1/context', 'a call whose context names another tenant is 421', async (service) => {
    refusalOf(await withContext(service, foreignTenant(service)), 421);
    refusalOf(await withContext(service, ''), 421);
  }),

  httpClause(
    'B1/context-twice',
    'of two contexts the last counts',
    async (service) => {
      const foreign = JSON.stringify({ tenantId: foreignTenant(service), runId: 'r' });
      const body = echoBody(service);
      const last = body.replace('"ctx":', `"ctx":${foreign},"ctx":`);
      assert.deepEqual(outputOf(await post(service, last)), hello);
      refusalOf(await post(service, `${body.slice(0, -1)},"ctx":${foreign}}`), 421);
      const escaped = body.replace('"ctx"', String.raw`"c\u0074x"`);
      refusalOf(await post(service, escaped.replace(own(service), foreignTenant(service))), 421);
    },
    ['A29'],
  ),

  httpClause('B2/letter-case', 'a UUID has no letter case, in the header and in the context', async (service) => {
    const upper = own(service).toUpperCase();
    assert.deepEqual(outputOf(await withHeader(service, upper)), hello);
    assert.deepEqual(outputOf(await withContext(service, upper)), hello);
    assert.deepEqual(outputOf(await withContext(service, own(service).toLowerCase())), hello);
  }),

  httpClause('B2/blanks', 'blanks around the header do not count, in the context they do', async (service) => {
    assert.deepEqual(outputOf(await withHeader(service, ` \t${own(service)}  `)), hello);
    refusalOf(await withContext(service, ` ${own(service)}`), 421);
    refusalOf(await withContext(service, `${own(service)} `), 421);
  }),

  httpClause('B2/other-spellings', 'other spellings of the same UUID are another tenant', async (service) => {
    const id = own(service);
    for (const value of [`{${id}}`, `urn:uuid:${id}`, id.replaceAll('-', '')]) {
      refusalOf(await withHeader(service, value), 421);
      refusalOf(await withContext(service, value), 421);
    }
  }),

  httpClause('B3/empty', 'an empty header is 421', async (service) => {
    own(service);
    refusalOf(await withHeader(service, ''), 421);
    refusalOf(await get(service, '/v1/info', { [HEADER.tenantId]: ' ' }), 421);
  }),

  httpClause('B3/twice', 'a header sent twice is 421, even when both are right', async (service) => {
    for (const value of [
      [own(service), own(service)],
      [own(service), foreignTenant(service)],
      [foreignTenant(service), own(service)],
    ]) {
      refusalOf(await withHeader(service, value), 421);
      refusalOf(await get(service, '/v1/info', { [HEADER.tenantId]: value }), 421);
    }
  }),

  httpClause(
    'B5/malformed-first',
    'what is no proper call is told before a foreign context',
    async (service) => {
      const message = invokeMessage(service, ECHO, hello, { ctx: { tenantId: foreignTenant(service) } });
      errorOf(await post(service, JSON.stringify({ ...message, v: 3 })), 'unknown-protocol-version');
      errorOf(await post(service, JSON.stringify({ ...message, tool: {} })), 'malformed-message');
      errorOf(await post(service, JSON.stringify(message).slice(0, -1)), 'malformed-message');
    },
    ['A2'],
  ),

  httpClause(
    'B5/before-lookup',
    'another tenant cannot learn whether a tool exists',
    async (service) => {
      const known = await withContext(service, foreignTenant(service));
      const unknown = await withContext(service, foreignTenant(service), 'conformance.nobody');
      const wrongInput = await invoke(service, ECHO, {}, { ctx: { tenantId: foreignTenant(service) } });
      for (const answer of [known, unknown, wrongInput]) refusalOf(answer, 421);
      assert.deepEqual(unknown.body, known.body);
    },
    ['A2'],
  ),

  httpClause('B6/check', 'a check is judged by its header', async (service) => {
    const id = 'conformance.checks.min-length';
    const trace = { output: 'text', tenantId: own(service) };
    assert.equal(verdictOf(await check(service, id, {}, trace)).passed, true);
    for (const value of [null, foreignTenant(service)]) {
      refusalOf(await check(service, id, {}, trace, { headers: { [HEADER.tenantId]: value } }), 421);
    }
  }),

  httpClause('B7/probes', 'the probes are open whatever the header says', async (service) => {
    for (const path of ['/healthz', '/readyz']) {
      for (const value of [null, '', foreignTenant(service), ['a', 'b']]) {
        const answer = await get(service, path, { [HEADER.token]: null, [HEADER.tenantId]: value });
        assert.equal(answer.status, 200, path);
      }
    }
  }),

  httpClause('B8/same-body', 'the 421 is the same for every cause and names no tenant', async (service) => {
    const causes = [
      await withHeader(service, null),
      await withHeader(service, foreignTenant(service)),
      await withHeader(service, [own(service), own(service)]),
      await withContext(service, foreignTenant(service)),
      await get(service, '/v1/info', { [HEADER.tenantId]: foreignTenant(service) }),
    ];
    for (const answer of causes) {
      refusalOf(answer, 421);
      assert.deepEqual(jsonOf(answer), jsonOf(causes[0] as RawResponse));
      const text = answer.body.toString().toLowerCase();
      assert.ok(!text.includes(own(service).toLowerCase()) && !text.includes(foreignTenant(service)), text);
    }
  }),
];
