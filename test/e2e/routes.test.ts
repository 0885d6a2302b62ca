// The four routes are the whole surface, compared as they are written; the Host may choose among a tenant's packs.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { afterAllTests } from '../support/atEnd.ts';
import { invokeMessage } from '../support/calls.ts';
import { expectRan, expectTenantMismatch } from '../support/expectations.ts';
import type { Gateway } from '../support/gateway.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStub } from '../support/hostedStubs.ts';
import { send } from '../support/http.ts';
import { openRawClient, rawCallHeaders, requestBytes } from '../support/rawClient.ts';

const atEnd = afterAllTests();
let gateway: Gateway;
let a: HostedStub;
let b: HostedStub;

beforeAll(async () => {
  const hosted = await hostStubs(
    { a: { tenantId: randomUUID() }, b: { settings: { hosts: ['b.packs.example.com'] } } },
    {},
    atEnd,
  );
  gateway = hosted.gateway;
  ({ a, b } = hosted.stubs);
});

/** Sends a bare request line with the token and A's tenant, and returns the status. */
async function statusOf(method: string, target: string): Promise<number> {
  const client = await openRawClient(gateway.port);
  const headers = rawCallHeaders(gateway, a.tenantId);
  client.send(requestBytes({ method, target, headers, ...(method === 'POST' && { body: invokeMessage(a.tenantId) }) }));
  const answer = await client.readUntil(/^HTTP\/1\.1 \d{3} /);
  client.close();
  return Number(answer.slice(9, 12));
}

describe('routes', () => {
  it.each([
    ['GET', '/healthz/'],
    ['GET', '/HEALTHZ'],
    ['GET', '//healthz'],
    ['GET', '/%68ealthz'],
    ['GET', '/healthz#a'],
    ['GET', 'http://packs.test/healthz'],
    ['OPTIONS', '*'],
    ['GET', '/'],
    ['POST', '/v1/invoke/'],
    ['POST', '/v1/../v1/invoke'],
    ['POST', '/v2/invoke'],
    ['POST', 'http://packs.test/v1/invoke'],
  ])('%s %s is 404', async (method, target) => {
    expect(await statusOf(method, target)).toBe(404);
    expect(a.starts()).toEqual([]);
  });

  it.each([
    ['HEAD', '/healthz'],
    ['POST', '/readyz'],
    ['OPTIONS', '/v1/invoke'],
    ['GET', '/v1/invoke'],
    ['PUT', '/v1/invoke'],
    ['POST', '/v1/info'],
  ])('%s %s is 405', async (method, target) => {
    expect(await statusOf(method, target)).toBe(405);
    expect(a.starts()).toEqual([]);
  });

  it.each(['/healthz', '/readyz', '/healthz?verbose=1'])('%s is 200 without a token, whoever is up', async (path) => {
    expect((await send(gateway.address, { path })).status).toBe(200);
  });

  it('a request without Host is 400', async () => {
    const client = await openRawClient(gateway.port);
    client.send('GET /healthz HTTP/1.1\r\n\r\n');
    expect(await client.readToEnd()).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('a Host that nobody has leads to the tenant’s own pack', async () => {
    expectRan(await b.invoke({ headers: { host: 'unknown.example.com' } }));
    expect(b.runs()).toHaveLength(1);
  });

  it('a Host of one tenant and the header of another is 421', async () => {
    expectTenantMismatch(await a.invoke({ headers: { host: 'b.packs.example.com' } }));
    expectTenantMismatch(await a.info({ headers: { host: 'B.packs.example.com:8787' } }));
    expectRan(await b.invoke({ headers: { host: 'B.packs.example.com:8787' } }));
    expect(a.starts()).toEqual([]);
  });
});
