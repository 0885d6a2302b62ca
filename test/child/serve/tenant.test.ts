import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { indexPack, packFolder, problemsOf, startChild, untilSleeping } from '../support/child.ts';
import type { Child } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { ask, checkInvoke, info, invoke, post } from '../support/http.ts';

const TENANT = '3F2B8C1E-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
const OTHER = '8d1c6c0e-0d3f-4c52-9c52-6a1f8f6f2b10';
const REFUSED = { error: expect.any(String), code: 'pack-tenant-mismatch' };

let folder: Folder;
let child: Child | undefined;

beforeAll(async () => {
  folder = makeFolder();
  await indexPack(packFolder('node-calls'), folder.file('index.json'));
});

afterEach(async () => {
  await child?.stop();
  child = undefined;
});

afterAll(() => folder.remove());

async function pinned(tenant: string, env: Record<string, string> = {}): Promise<Child> {
  child = await startChild({
    index: folder.file('index.json'),
    moduleRoot: packFolder('node-calls'),
    env: { KINDGI_PACK_TENANT_ID: tenant, ...env },
  });
  return child;
}

const of = (tenant: string | string[]) => ({ 'kindgi-tenant-id': tenant });

describe('a service pinned to a tenant', () => {
  test('B1 B2 B3 B8 B9: refuses other tenants by header on invoke and info, always in the same words', async () => {
    const { port, records, waitFor } = await pinned(TENANT);
    const bodies = new Set<string>();
    const headers = [{}, of(''), of(OTHER), of([TENANT, TENANT]), of([TENANT, OTHER]), of(`${TENANT}x`)];
    for (const header of headers) {
      const call = invoke('calls.echo', { message: 'x' }, { tenantId: TENANT });
      for (const answer of [await post(port, call, { headers: header }), await info(port, header)]) {
        expect(answer.status).toBe(421);
        expect(answer.json).toEqual(REFUSED);
        expect(answer.headers).not.toHaveProperty('kindgi-duration-ms');
        bodies.add(answer.text);
      }
    }
    expect(bodies.size).toBe(1);
    expect([...bodies][0]).not.toContain(TENANT.toLowerCase());

    const record = await waitFor(({ event }) => event === 'tenant-mismatch');
    expect(record).toMatchObject({ level: 'warn', kind: 'tenant-mismatch', via: 'header' });
    expect(JSON.stringify(record)).not.toMatch(/3f2b8c1e|8d1c6c0e|calls\.echo|run-1/i);
    expect(records.filter(({ event }) => event === 'call')).toEqual([]);
  });

  test('B1 B5: refuses a call whose context is of another tenant, before it looks for the tool', async () => {
    const { port, waitFor } = await pinned(TENANT);
    for (const tenantId of [OTHER, '', ` ${TENANT}`]) {
      for (const tool of ['calls.echo', 'calls.nope']) {
        const answer = await post(port, invoke(tool, { message: 'x' }, { tenantId }), { headers: of(TENANT) });
        expect(answer).toMatchObject({ status: 421, json: REFUSED });
        expect(answer.headers).not.toHaveProperty('kindgi-artifact-version');
      }
    }
    expect(await waitFor(({ event }) => event === 'tenant-mismatch')).toMatchObject({ via: 'context' });
    const malformed = await post(port, invoke('calls.echo', {}, { tenantId: OTHER, runId: 5 }), {
      headers: of(TENANT),
    });
    expect(malformed.json).toMatchObject({ code: 'malformed-message' });
  });

  test('B2: a UUID is compared without case, blanks around the header are no part of it', async () => {
    const { port } = await pinned(TENANT);
    const call = invoke('calls.echo', { message: 'x' }, { tenantId: TENANT.toUpperCase() });
    expect((await post(port, call, { headers: of(`  ${TENANT.toLowerCase()}\t`) })).json).toMatchObject({
      kind: 'result',
    });
    expect((await info(port, of(TENANT.toUpperCase()))).status).toBe(200);
  });

  test('B6: a check is judged by its header alone', async () => {
    const { port } = await pinned(TENANT);
    const call = checkInvoke('calls.verdicts', { verdict: 'yes' }, { tenantId: OTHER });
    expect((await post(port, call, { headers: of(TENANT) })).json).toMatchObject({ kind: 'check-result' });
    expect((await post(port, call)).status).toBe(421);
  });

  test('B7: probes stay open', async () => {
    const { port } = await pinned(TENANT);
    for (const path of ['/healthz', '/readyz'])
      expect((await ask(port, { path, headers: of(OTHER) })).status).toBe(200);
  });

  test('B4 A2: 401 beats 421, which beats 503 and 415', async () => {
    const { port, kill } = await pinned(TENANT, { KINDGI_PACK_SERVICE_MAX_CONCURRENCY: '1' });
    const text = { 'content-type': 'text/plain' };
    const wrongToken = { 'kindgi-pack-token': 'wrong', ...of(OTHER) };
    expect((await post(port, 'x', { headers: { ...wrongToken, ...text } })).status).toBe(401);
    const held = post(port, invoke('calls.sleep', { ms: 500 }, { tenantId: TENANT }), { headers: of(TENANT) });
    await untilSleeping(child as Child, 1);
    expect((await post(port, 'x', { headers: { ...of(OTHER), ...text } })).status).toBe(421);
    expect((await post(port, 'x', { headers: { ...of(TENANT), ...text } })).status).toBe(503);
    kill('SIGTERM');
    await child?.waitFor(({ event }) => event === 'draining');
    expect((await post(port, 'x', { headers: of(OTHER) })).status).toBe(421);
    expect((await post(port, 'x', { headers: of(TENANT) })).json).toEqual({ error: 'draining' });
    expect((await held).json).toMatchObject({ output: 'slept' });
  });

  test('B10: an id that is no UUID is taken as well, and compared exactly', async () => {
    const { port } = await pinned('acme/Shop-7');
    expect((await info(port, of('acme/Shop-7'))).status).toBe(200);
    expect((await info(port, of('acme/shop-7'))).status).toBe(421);
  });
});

describe('the pin itself', () => {
  test('B10: blanks around it are no part of it, and a blank one is none', async () => {
    const { port } = await pinned(`  ${TENANT}\n`);
    expect((await info(port, of(TENANT))).status).toBe(200);
    await child?.stop();
    const unpinned = await pinned('   ');
    expect((await info(unpinned.port)).status).toBe(200);
  });

  test.each([
    ['with a blank inside', 'one two'],
    ['too long', 'x'.repeat(129)],
    ['not ASCII', 'größe'],
  ])('B10: an id %s is a configuration problem that does not repeat it', async (_name, tenant) => {
    const { event, problems } = await problemsOf({
      index: folder.file('index.json'),
      env: { KINDGI_PACK_TENANT_ID: tenant },
    });
    expect(event).toBe('config-invalid');
    expect(problems).toEqual([expect.stringContaining('KINDGI_PACK_TENANT_ID')]);
    expect(problems[0]).not.toContain(tenant);
  });

  test('B10: the operator\'s "no tenant" id is a problem that names it', async () => {
    const none = '00000000-0000-4000-8000-000000000000';
    const { problems } = await problemsOf({ index: folder.file('index.json'), env: { KINDGI_PACK_TENANT_ID: none } });
    expect(problems).toEqual([expect.stringContaining(none)]);
  });
});
