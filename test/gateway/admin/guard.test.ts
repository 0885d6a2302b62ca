import { describe, expect, it } from 'vitest';
import { isOwnHost } from '../../../gateway/admin/guard.ts';
import { FakeHost, statusOf } from './fakeHost.ts';
import { ADMIN_TOKEN, askAt, openAdmin } from './openAdmin.ts';

const BEARER = { authorization: `Bearer ${ADMIN_TOKEN}` };
const host = (): FakeHost => new FakeHost().add(statusOf('acme', 'crm'));

describe('a Host header', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1:8788',
    '10.0.0.7:1',
    '[::1]',
    '[::1]:8788',
    'localhost',
    'LocalHost:80',
    'admin.lan:8788',
  ])('%s is ours', (name) => {
    expect(isOwnHost(name, 'Admin.lan')).toBe(true);
  });

  it.each([
    '',
    'evil.example',
    'evil.example:8788',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '127.0.0.256',
    '[evil]',
    '::1',
    '127.0.0.1:',
    'localhost:8788:1',
    ' localhost',
  ])('%j is not', (name) => {
    expect(isOwnHost(name, 'admin.lan')).toBe(false);
    expect(isOwnHost(name)).toBe(false);
  });
});

describe('over TCP', () => {
  it.each([
    ['none', {}],
    ['a wrong one', { authorization: `Bearer ${ADMIN_TOKEN}x` }],
    ['an empty one', { authorization: 'Bearer ' }],
    ['the right one in another scheme', { authorization: `Basic ${ADMIN_TOKEN}` }],
    ['the right one without a scheme', { authorization: ADMIN_TOKEN }],
    ["the callers' header", { 'kindgi-pack-token': ADMIN_TOKEN }],
  ])('a token is asked for: %s gets 401 on every path but the probes', async (_what, headers) => {
    const {
      address,
      host: { orders },
      records,
    } = await openAdmin('tcp', host());
    for (const [method, path] of [
      ['GET', '/v1/gateway'],
      ['GET', '/v1/deployments'],
      ['GET', '/v1/deployments/acme/crm'],
      ['POST', '/v1/deployments/acme/crm/stop'],
      ['POST', '/v1/reload'],
      ['GET', '/nothing-there'],
    ] as const) {
      const answer = await askAt(address, path, { method, headers });
      expect([answer.status, answer.json.code]).toEqual([401, 'bad-token']);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
    expect(orders).toEqual([]);
    expect(records).toHaveLength(6);
    expect(records[0]).toMatchObject({ event: 'admin-refused', code: 'bad-token', from: '127.0.0.1' });
    expect(JSON.stringify(records)).not.toContain(ADMIN_TOKEN);
    for (const path of ['/healthz', '/readyz']) expect((await askAt(address, path, { headers })).status).toBe(200);
  });

  it('the scheme counts in any letter case', async () => {
    const { address } = await openAdmin('tcp', host());
    const headers = { authorization: `bearer  ${ADMIN_TOKEN}` };
    expect((await askAt(address, '/v1/gateway', { headers })).status).toBe(200);
  });

  it('a page that lets its own name point here is refused, token or not', async () => {
    const {
      address,
      host: { orders },
    } = await openAdmin('tcp', host());
    const headers = { ...BEARER, host: 'evil.example:8788' };
    const answer = await askAt(address, '/v1/deployments/acme/crm/stop', { method: 'POST', headers });
    expect([answer.status, answer.json.code]).toEqual([403, 'foreign-host']);
    expect(orders).toEqual([]);
  });

  it.each(['https://evil.example', 'null', 'http://127.0.0.1:8788'])('a page of %s is refused', async (origin) => {
    const {
      address,
      host: { orders },
    } = await openAdmin('tcp', host());
    const headers = { ...BEARER, origin };
    const answer = await askAt(address, '/v1/deployments/acme/crm/stop', { method: 'POST', headers });
    expect([answer.status, answer.json.code]).toEqual([403, 'foreign-origin']);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect(orders).toEqual([]);
  });
});

describe('over a Unix socket', () => {
  it('whoever may open it needs no token and may name any host', async () => {
    const { address } = await openAdmin('unix', host());
    expect((await askAt(address, '/v1/deployments', { headers: { host: 'packgate' } })).status).toBe(200);
  });
});
