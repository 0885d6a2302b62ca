import { createGateway, fakePackService, packs } from 'packgate/testing';
import type { TestGateway } from 'packgate/testing';
import 'packgate/testing/vitest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool } from './caller.js';

const ACME = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
const GLOBEX = '8d1c6c0e-0d3f-4c52-9c52-6a1f8f6f2b10';
const NOBODY = '00000000-0000-4000-8000-00000000beef';

describe('what a gateway makes of calls that are for another tenant', () => {
  const crm = fakePackService({ tools: ['crm.find'] });
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await createGateway({
      // A process that answers what the test says, and a real pack.
      tenants: { [ACME]: crm, [GLOBEX]: { pack: packs.echo } },
      tokens: [{ token: 'only-for-globex-0123456789', tenants: [GLOBEX] }],
    });
  });

  afterAll(() => gateway.close());

  it('a call for its own tenant runs', async () => {
    crm.next('crm.find', { result: { name: 'Ada' } });
    expect(await gateway.client(ACME).invoke('crm.find', { id: 7 })).toBeResult({ name: 'Ada' });
    expect(crm.calls('crm.find').map(({ input }) => input)).toEqual([{ id: 7 }]);
  });

  it.each([
    ['a tenant that is not hosted', { asTenant: NOBODY }],
    ['another tenant in the header than in the context', { asTenant: GLOBEX }],
    ['another tenant in the context than in the header', { asTenant: { ctx: GLOBEX } }],
    ['no tenant', { asTenant: { header: null } }],
  ])('%s is a mismatch, and nothing runs', async (_, options) => {
    const before = crm.calls().length;
    expect(await gateway.client(ACME).invoke('crm.find', {}, options)).toBeTenantMismatch();
    expect(crm.calls()).toHaveLength(before);
  });

  it("another tenant's token is a mismatch, too", async () => {
    const stranger = gateway.client(ACME, { token: 'only-for-globex-0123456789' });
    expect(await stranger.invoke('crm.find')).toBeTenantMismatch();
    expect(await stranger.info()).toBeTenantMismatch();
  });
});

describe('what our caller makes of the answers', () => {
  it('a 421 is sent once and reported', async () => {
    await using gateway = await createGateway({ tenants: { [ACME]: { pack: packs.echo } } });
    const { url, token } = gateway;
    const call = { url, token, tenantId: ACME, tool: 'echo.say', input: { message: 'hi' }, runFor: GLOBEX };
    expect(await callTool(call)).toMatchObject({ status: 421, message: { code: 'pack-tenant-mismatch' } });
    expect(gateway.records.map(({ status }) => status)).toEqual([421]);
  });

  it('a 503 with Retry-After is sent again, and runs once', async () => {
    const crm = fakePackService({ tools: ['crm.find'] });
    await using gateway = await createGateway({
      tenants: { [ACME]: crm },
      faults: [{ tool: 'crm.find', nth: 1, fault: '503' }],
    });
    const { url, token } = gateway;
    const answer = await callTool({ url, token, tenantId: ACME, tool: 'crm.find', input: 1 });
    expect(answer).toMatchObject({ status: 200, message: { output: 1 } });
    expect(gateway.records.map(({ status }) => status)).toEqual([503, 200]);
    expect(crm.calls()).toHaveLength(1);
  });

  it('a 500 is not sent again: it may have run, and here it did', async () => {
    const crm = fakePackService({ tools: ['crm.find'] });
    crm.next('crm.find', { instead: 'die' });
    await using gateway = await createGateway({ tenants: { [ACME]: crm } });
    const { url, token } = gateway;
    expect(await callTool({ url, token, tenantId: ACME, tool: 'crm.find', input: 1 })).toMatchObject({ status: 500 });
    expect(gateway.records.map(({ handedOver }) => handedOver)).toEqual(['yes']);
    expect(crm.calls()).toHaveLength(1);
  });
});
