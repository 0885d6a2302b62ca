import { describe, expect, it, vi } from 'vitest';
import type { AdminHost } from '../../../gateway/admin/host.ts';
import type { Done } from '../../../gateway/supervisor/status.ts';
import { until } from '../../support/files.ts';
import { FakeHost, GATEWAY, ok, statusOf } from './fakeHost.ts';
import { openAdmin } from './openAdmin.ts';
import type { OpenAdmin } from './openAdmin.ts';

const UUID = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';

const boot = (number: number) => ({
  instance: `acme/crm#${number}`,
  cause: 'call' as const,
  at: '2026-01-02T03:04:05.000Z',
  outcome: 'ready' as const,
  steps: [],
  lastOutput: [],
});

function host(): FakeHost {
  return new FakeHost().add(
    statusOf('acme', 'crm', { boots: [boot(2), boot(1)] }),
    statusOf('acme', 'billing'),
    statusOf(UUID, 'default'),
  );
}

/** A promise and what settles it. */
function later<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (cause: Error) => void } {
  let resolve!: (value: T) => void;
  let reject!: (cause: Error) => void;
  const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}

describe.each(['unix', 'tcp'] as const)('the admin API over %s', (kind) => {
  const open = (): Promise<OpenAdmin> => openAdmin(kind, host());

  it('shows the gateway', async () => {
    const { ask } = await open();
    const { status, json, headers } = await ask('/v1/gateway');
    // What is undefined is not there in JSON.
    expect([status, json]).toEqual([200, JSON.parse(JSON.stringify(GATEWAY))]);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('etag');
  });

  it('lists the deployments with their last start, or with all of them', async () => {
    const {
      ask,
      host: { statuses },
    } = await open();
    expect((await ask('/v1/deployments')).json).toEqual({
      deployments: [{ ...statuses[0], boots: [boot(2)] }, statuses[1], statuses[2]],
    });
    expect((await ask('/v1/deployments?boots=all')).json).toEqual({ deployments: statuses });
    expect(await ask('/v1/deployments?boots=7')).toMatchObject({ status: 400, json: { code: 'bad-request' } });
  });

  it('tells what stands in for a runtime where there is something, and has no such path elsewhere', async () => {
    const fake = host();
    const without = await openAdmin(kind, fake);
    const path = '/v1/stand-ins?tenant=acme&tool=crm.find&timeoutMs=500';
    expect(await without.ask(path, { method: 'POST' })).toMatchObject({ status: 404, json: { code: 'not-found' } });
    const standInsFor = vi.fn<NonNullable<AdminHost['standInsFor']>>();
    const { ask } = await openAdmin(kind, Object.assign(fake, { standInsFor }));
    standInsFor.mockResolvedValueOnce({ call: 'here' }).mockResolvedValueOnce(undefined);
    expect(await ask(path, { method: 'POST' })).toMatchObject({ status: 200, json: { call: 'here' } });
    expect(standInsFor.mock.calls).toEqual([[{ tenantId: 'acme', toolId: 'crm.find', timeoutMs: 500 }]]);
    expect(await ask(path, { method: 'POST' })).toMatchObject({ status: 404, json: { code: 'unknown-deployment' } });
    expect(await ask(path)).toMatchObject({ status: 405 });
    for (const wrong of [
      '',
      '?tenant=a&tool=b',
      '?tenant=a&tenant=b&tool=c&timeoutMs=1',
      '?tenant=a&tool=b&timeoutMs=-1',
    ])
      expect(await ask(`/v1/stand-ins${wrong}`, { method: 'POST' })).toMatchObject({ status: 400 });
    expect(standInsFor).toHaveBeenCalledTimes(2);
  });

  it('shows one deployment whole; a UUID counts in any letter case', async () => {
    const {
      ask,
      host: { statuses },
    } = await open();
    expect(await ask('/v1/deployments/acme/crm')).toMatchObject({ status: 200, json: statuses[0] });
    expect(await ask(`/v1/deployments/${UUID.toUpperCase()}/default`)).toMatchObject({
      status: 200,
      json: statuses[2],
    });
  });

  it.each(['reload', 'restart', 'stop', 'start', 'rollback'])(
    'takes the order %s with 202 and logs it',
    async (name) => {
      const {
        ask,
        host: { orders },
        records,
      } = await open();
      const { status, json } = await ask(`/v1/deployments/acme/crm/${name}`, { method: 'POST' });
      expect([status, json]).toEqual([202, { accepted: true }]);
      expect(orders).toEqual([`${name} acme/crm`]);
      const order = { order: name, who: kind, tenant: 'acme', deployment: 'crm' };
      expect(records).toMatchObject([
        { event: 'order', level: 'info', ...order, accepted: true, ...(kind === 'tcp' && { from: '127.0.0.1' }) },
        { event: 'order-done', ...order, ok: true, message: `${name} done` },
      ]);
    },
  );

  it('tells how an order ended to whoever waits', async () => {
    const admin = await open();
    const failed: Done = { ok: false, code: 'boot-failed', message: 'it did not start', problems: ['a', 'b'] };
    for (const [done, status] of [
      [ok('restarted'), 200],
      [failed, 409],
    ] as const) {
      const end = later<Done>();
      admin.host.answer = () => ({ accepted: true, done: end.promise });
      const answer = admin.ask('/v1/deployments/acme/crm/restart?wait=1', { method: 'POST' });
      end.resolve(done);
      expect(await answer).toMatchObject({ status, json: done });
    }
    expect(admin.records.filter(({ event }) => event === 'order-done')).toMatchObject([
      { ok: true },
      { code: 'boot-failed' },
    ]);
  });

  it('says after the wait that an order is still going on, and forgets nothing of it', async () => {
    const { ask, host: fake, records } = await open();
    const end = later<Done>();
    fake.answer = () => ({ accepted: true, done: end.promise });
    const { status, json } = await ask('/v1/deployments/acme/crm/restart?wait=20ms', { method: 'POST' });
    expect([status, json]).toEqual([202, { accepted: true, done: false }]);
    end.resolve(ok('done at last'));
    await until('the end is logged', () => records.some(({ message }) => message === 'done at last'));
  });

  it('refuses an order that the deployment does not take', async () => {
    const { ask, host: fake, records } = await open();
    fake.answer = () => ({ accepted: false, code: 'no-previous-build', message: 'there is none before this one' });
    const { status, json } = await ask('/v1/deployments/acme/crm/rollback?wait=1', { method: 'POST' });
    expect(status).toBe(409);
    expect(json).toEqual({ accepted: false, code: 'no-previous-build', error: 'there is none before this one' });
    expect(records).toMatchObject([{ event: 'order', level: 'warn', accepted: false, code: 'no-previous-build' }]);
  });

  it('a bug behind an order is a 500 and a log record, and the listener goes on', async () => {
    const { ask, host: fake, records } = await open();
    fake.answer = () => ({ accepted: true, done: Promise.reject(new Error('a bug')) });
    const order = '/v1/deployments/acme/crm/restart';
    expect(await ask(`${order}?wait=1`, { method: 'POST' })).toMatchObject({
      status: 500,
      json: { error: 'internal error', code: 'internal' },
    });
    expect(records).toContainEqual(expect.objectContaining({ event: 'internal-error', level: 'error' }));
    expect((await ask(order, { method: 'POST' })).status).toBe(202);
    expect((await ask('/healthz')).status).toBe(200);
  });

  it.each(['0', '', 'true', '-1s', '90', '1h1', '5s&wait=6s'])(
    'refuses to wait %j without ordering anything',
    async (wait) => {
      const {
        ask,
        host: { orders },
      } = await open();
      const { status, json } = await ask(`/v1/deployments/acme/crm/stop?wait=${wait}`, { method: 'POST' });
      expect([status, json.code]).toEqual([400, 'bad-request']);
      expect(orders).toEqual([]);
    },
  );

  it('reads the configuration again, and tells every problem of a bad one', async () => {
    const { ask, host: fake, records } = await open();
    const good = { ok: true as const, added: ['a/b'], removed: [], changed: ['acme/crm'], needsRestart: ['listen'] };
    fake.rereads = [good, { ok: false, problems: ['packgate.yaml:1:1: x', 'packgate.yaml:2:1: y'] }];
    expect(await ask('/v1/reload', { method: 'POST' })).toMatchObject({ status: 200, json: good });
    const { status, json } = await ask('/v1/reload', { method: 'POST' });
    expect(status).toBe(409);
    expect(json).toMatchObject({
      ok: false,
      code: 'config-rejected',
      problems: ['packgate.yaml:1:1: x', 'packgate.yaml:2:1: y'],
    });
    expect(records).toMatchObject([
      { event: 'order', order: 'reload' },
      { event: 'order', order: 'reload' },
    ]);
  });

  it('says which deployments a tenant has where it has not the one that was asked for', async () => {
    const { ask } = await open();
    expect(await ask('/v1/deployments/acme/nope')).toMatchObject({
      status: 404,
      json: {
        code: 'unknown-deployment',
        error: expect.stringContaining('crm, billing') as string,
        known: ['crm', 'billing'],
      },
    });
    const { status, json } = await ask('/v1/deployments/nobody/crm/stop', { method: 'POST' });
    expect([status, json.code, json.known]).toEqual([404, 'unknown-deployment', []]);
    expect(json.error).not.toContain('acme');
  });

  it.each([
    ['GET', '/', 404],
    ['GET', '/v1/Deployments', 404],
    ['GET', '/v1/deployments/', 404],
    ['GET', '/v1/deployments/acme', 404],
    ['POST', '/v1/deployments/acme/crm/explode', 404],
    ['POST', '/v1/invoke', 404],
    ['POST', '/v1/deployments', 405],
    ['DELETE', '/v1/deployments/acme/crm', 405],
    ['OPTIONS', '/v1/deployments/acme/crm/stop', 405],
    ['GET', '/v1/deployments/acme/crm/stop', 405],
    ['GET', '/v1/reload', 405],
    ['POST', '/healthz', 405],
    ['GET', '/v1/deployments/%zz/crm', 400],
    ['GET', '/v1/deployments/%ff/crm', 400],
  ])('%s %s is %d, as JSON', async (method, path, status) => {
    const {
      ask,
      host: { orders },
    } = await open();
    const answer = await ask(path, { method });
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ error: expect.any(String) as string, code: expect.any(String) as string });
    const allowed = ['GET, HEAD', 'POST'].filter((methods) => !methods.includes(method));
    expect(status === 405 ? allowed : [undefined]).toContain(answer.headers.allow);
    expect(orders).toEqual([]);
  });

  const hostile = [
    '..',
    '.',
    '../../etc/passwd',
    'a/b',
    '__proto__',
    'constructor',
    'toString',
    'a%2Fb',
    '\0',
    '\n',
    'é',
    '<b>',
    'x'.repeat(5000),
  ];
  it.each(hostile)('%j is a name like any other: unknown, or that of its deployment', async (name) => {
    const { ask, host: fake } = await open();
    const path = `/v1/deployments/${encodeURIComponent(name)}/${encodeURIComponent(name)}`;
    expect((await ask(path)).json).toMatchObject({ code: 'unknown-deployment', known: [] });
    expect((await ask(`${path}/stop`, { method: 'POST' })).status).toBe(404);
    fake.add(statusOf(name, name));
    expect(await ask(path)).toMatchObject({ status: 200, json: { tenant: name } });
    expect((await ask(`${path}/stop`, { method: 'POST' })).status).toBe(202);
    expect(fake.orders).toEqual([`stop ${name}/${name}`]);
  });

  it('takes a small body that nobody needs, refuses a large one and one that is packed', async () => {
    const {
      ask,
      host: { orders },
    } = await open();
    const stop = '/v1/deployments/acme/crm/stop';
    expect((await ask(stop, { method: 'POST', body: '{}' })).status).toBe(202);
    expect(await ask(stop, { method: 'POST', body: 'x'.repeat(4097) })).toMatchObject({
      status: 413,
      json: { code: 'body-too-large' },
    });
    const packed = { method: 'POST', body: 'x', headers: { 'content-encoding': 'gzip' } };
    expect((await ask(stop, packed)).status).toBe(400);
    expect(orders).toHaveLength(1);
  });

  it('goes on while the gateway drains, and its readiness says so', async () => {
    const { ask, host: fake } = await open();
    expect(await ask('/readyz')).toMatchObject({ status: 200, json: { status: 'ready' } });
    fake.state = 'draining';
    expect(await ask('/readyz')).toMatchObject({ status: 503, json: { code: 'draining' } });
    expect(await ask('/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect((await ask('/v1/gateway')).json).toMatchObject({ state: 'draining' });
    expect((await ask('/v1/deployments')).status).toBe(200);
  });

  it('shows 500 deployments within a second', async () => {
    const lastOutput = Array.from({ length: 40 }, (_, n) => `${n} ${'x'.repeat(200)}`);
    const many = new FakeHost();
    for (let n = 0; n < 500; n += 1) {
      many.add(
        statusOf(`tenant-${n}`, 'default', { boots: [1, 2, 3].map((number) => ({ ...boot(number), lastOutput })) }),
      );
    }
    const { ask } = await openAdmin(kind, many);
    const begun = performance.now();
    const { json } = await ask('/v1/deployments?boots=all');
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(json.deployments).toHaveLength(500);
  });
});
