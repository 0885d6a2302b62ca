// The same without vitest: Node's own runner, plain JavaScript, and assertions that are functions.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  assertMayHaveRun,
  assertResult,
  assertTenantMismatch,
  assertTryAgain,
  createGateway,
  fakePackService,
} from 'packgate/testing';
import { callTool } from './caller.js';

const ACME = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
const GLOBEX = '8d1c6c0e-0d3f-4c52-9c52-6a1f8f6f2b10';

const crm = fakePackService({ tools: ['crm.find'] });
let gateway;

before(async () => {
  gateway = await createGateway({ tenants: { [ACME]: crm } });
});
after(() => gateway.close());

test('a call for another tenant is a mismatch, and nothing runs', async () => {
  const client = gateway.client(ACME);
  assertTenantMismatch(await client.invoke('crm.find', {}, { asTenant: GLOBEX }));
  assertTenantMismatch(await client.invoke('crm.find', {}, { asTenant: { ctx: GLOBEX } }));
  assert.equal(crm.calls().length, 0);
  assertResult(await client.invoke('crm.find', { id: 7 }), { id: 7 });
  assert.equal(crm.calls().length, 1);
});

test('our caller sends a 421 once', async () => {
  const sent = gateway.records.length;
  const { url, token } = gateway;
  const answer = await callTool({ url, token, tenantId: GLOBEX, tool: 'crm.find', input: 1 });
  assert.equal(answer.status, 421);
  assert.equal(gateway.records.length - sent, 1);
});

test('a service that refuses may be tried again, one that dies may not', async () => {
  const client = gateway.client(ACME);
  crm.next('crm.find', { status: 503, headers: { 'retry-after': '7' }, body: '{"error":"overloaded"}' });
  assertTryAgain(await client.invoke('crm.find'));
  crm.next('crm.find', { instead: 'die' });
  assertMayHaveRun(await client.invoke('crm.find'));
});
