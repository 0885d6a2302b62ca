import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Done } from '../../../gateway/supervisor/status.ts';
import { temporaryFolder } from '../../support/files.ts';
import { FakeHost, statusOf } from '../admin/fakeHost.ts';
import { ADMIN_TOKEN, openAdmin } from '../admin/openAdmin.ts';
import { packgate } from './output.ts';

const UUID = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
const ORDERS = ['reload', 'restart', 'stop', 'start', 'rollback'] as const;

const host = (): FakeHost =>
  new FakeHost().add(
    statusOf('acme', 'crm'),
    statusOf('acme', 'billing'),
    statusOf('globex', 'crm'),
    statusOf(UUID, 'default'),
    statusOf('a/b', 'odd'),
  );

describe.each(ORDERS)('packgate %s', (order) => {
  it('gives the order and returns at once', async () => {
    const {
      host: { orders },
      address,
    } = await openAdmin('unix', host());
    expect(await packgate([order, 'acme/crm', '--url', address])).toEqual({
      code: 0,
      stdout: `${order} of acme/crm has begun; "packgate status acme/crm" shows how it goes\n`,
      stderr: '',
    });
    expect(orders).toEqual([`${order} acme/crm`]);
  });

  it('with --wait tells how it ended', async () => {
    const { address } = await openAdmin('unix', host());
    expect(await packgate([order, 'acme/crm', '--wait', '--url', address])).toEqual({
      code: 0,
      stdout: `acme/crm: ${order} done\n`,
      stderr: '',
    });
  });

  it('that fails exits with 1 and says why, safe to show', async () => {
    const { host: fake, address } = await openAdmin('unix', host());
    const done: Done = {
      ok: false,
      code: 'boot-failed',
      message: 'no\u001b[2J',
      problems: ['one\ntwo', 'three\u0007'],
    };
    fake.answer = () => ({ accepted: true, done: Promise.resolve(done) });
    const argv = [order, 'acme/crm', '--wait', '--url', address];
    expect(await packgate(argv)).toEqual({
      code: 1,
      stdout: '',
      stderr: `packgate: ${order} of acme/crm failed (boot-failed): no\\u{1b}[2J\n  one\n  two\n  three\\u{7}\n`,
    });
    const { code, stdout } = await packgate([...argv, '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([1, done]);
  });

  it('that is not taken exits with 1 and says why', async () => {
    const { host: fake, address } = await openAdmin('unix', host());
    fake.answer = () => ({ accepted: false, code: 'closed', message: 'it is going away' });
    expect(await packgate([order, 'acme/crm', '--url', address])).toEqual({
      code: 1,
      stdout: '',
      stderr: `packgate: ${order} of acme/crm failed (closed): it is going away\n`,
    });
  });

  it('that is not done in time exits with 1 and goes on', async () => {
    const { host: fake, address } = await openAdmin('unix', host());
    fake.answer = () => ({ accepted: true, done: new Promise(() => undefined) });
    const { code, stdout, stderr } = await packgate([order, 'acme/crm', '--timeout', '30ms', '--url', address]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('was not done after 30 ms. It goes on');
  });
});

describe('the deployment that is meant', () => {
  it.each([
    ['acme/crm', 'acme/crm'],
    ['globex', 'globex/crm'],
    ['billing', 'acme/billing'],
    [UUID.toUpperCase(), `${UUID}/default`],
    [`${UUID.toUpperCase()}/default`, `${UUID}/default`],
    ['a/b', 'a/b/odd'],
    ['a/b/odd', 'a/b/odd'],
  ])('%s is %s', async (text, meant) => {
    const {
      host: { orders },
      address,
    } = await openAdmin('unix', host());
    expect((await packgate(['stop', text, '--url', address])).code).toBe(0);
    expect(orders).toEqual([`stop ${meant}`]);
  });

  it.each([
    ['crm', '"crm" can be 2 deployments. Write one of acme/crm, globex/crm.'],
    ['acme', '"acme" can be 2 deployments. Write one of acme/crm, acme/billing.'],
    ['acme/cmr', 'the gateway has no deployment "acme/cmr". Did you mean acme/crm?'],
    ['bilings', 'the gateway has no deployment "bilings". Did you mean billing?'],
    [
      'zzzzzzzz',
      `the gateway has no deployment "zzzzzzzz". There is acme/crm, acme/billing, globex/crm, ${UUID}/default, a/b/odd.`,
    ],
    ['/crm', 'the gateway has no deployment "/crm". Did you mean crm?'],
  ])('%s is wrong usage', async (text, message) => {
    const {
      host: { orders },
      address,
    } = await openAdmin('unix', host());
    const outcome = await packgate(['stop', text, '--url', address]);
    expect(outcome).toEqual({ code: 2, stdout: '', stderr: `packgate: ${message}\n` });
    expect(orders).toEqual([]);
  });

  it('must be named where an order is for one', async () => {
    for (const order of ORDERS.filter((name) => name !== 'reload')) {
      const { code, stderr } = await packgate([order, '--url', 'unix:/nowhere']);
      expect([code, stderr.startsWith('packgate: <deployment> is missing.')]).toEqual([2, true]);
    }
  });

  it('is not listed to the last of 500', async () => {
    const many = new FakeHost();
    for (let n = 0; n < 500; n += 1) many.add(statusOf(`tenant-${n}`, 'crm'));
    const { address } = await openAdmin('unix', many);
    const { stderr } = await packgate(['stop', 'crm', '--url', address]);
    expect(stderr).toContain('tenant-11/crm and 488 more ("packgate status" shows them)');
    expect(stderr).not.toContain('tenant-12/');
  });
});

describe('packgate reload without a deployment', () => {
  it('reads the configuration again and says what has changed', async () => {
    const { host: fake, address } = await openAdmin('unix', host());
    const none = { ok: true as const, added: [], removed: [], changed: [], needsRestart: [] };
    fake.rereads = [{ ...none, added: ['x/y'], changed: ['acme/crm', 'a/b'], needsRestart: ['listen'] }, none];
    expect(await packgate(['reload', '--url', address])).toEqual({
      code: 0,
      stdout: 'added: x/y\nchanged: acme/crm, a/b\ntakes effect when the gateway is started anew: listen\n',
      stderr: '',
    });
    expect((await packgate(['reload', '--url', address])).stdout).toBe('nothing has changed\n');
    expect(fake.orders).toEqual([]);
  });

  it('shows every problem of a bad one and exits with 1', async () => {
    const { host: fake, address } = await openAdmin('unix', host());
    fake.rereads = [{ ok: false, problems: ['packgate.yaml:1:1: a', 'packgate.yaml:2:1: b'] }];
    const { code, stdout, stderr } = await packgate(['reload', '--url', address]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('(config-rejected)');
    expect(stderr).toContain('\n  packgate.yaml:1:1: a\n  packgate.yaml:2:1: b\n');
  });
});

describe('options', () => {
  it.each(['0s', '5', '11m', 'soon'])('--timeout %s is wrong usage', async (timeout) => {
    const { code, stderr } = await packgate(['stop', 'acme', '--timeout', timeout, '--url', 'unix:/nowhere']);
    expect([code, stderr]).toEqual([
      2,
      'packgate: --timeout is no duration of at most 10m. Write it with its unit, such as 90s or 5m.\n',
    ]);
  });

  it.each([...ORDERS, 'status'])('%s has a help that shows its argument and an example', async (name) => {
    const { code, stdout } = await packgate([name, '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`Usage: packgate ${name} [<[]deployment[>\\]]`));
    expect(stdout).toMatch(/Arguments:\n {2}[<[]deployment[>\]] {2}\S/);
    expect(stdout).toMatch(new RegExp(`Examples:\\n {2}packgate ${name}`));
  });
});

describe('a gateway that cannot be asked', () => {
  const commands = [['status'], ['status', 'acme/crm'], ['reload'], ...ORDERS.map((name) => [name, 'acme/crm'])];

  it.each(commands)('%s %s: exit code 69 where nothing is there', async (...argv) => {
    const path = join(temporaryFolder(), 'admin.sock');
    const closed = createServer();
    await new Promise<void>((done) => closed.listen(0, '127.0.0.1', done));
    const { port } = closed.address() as { port: number };
    await new Promise((done) => closed.close(done));
    for (const url of [`unix:${path}`, `http://127.0.0.1:${port}`]) {
      expect(await packgate([...argv, '--url', url])).toEqual({
        code: 69,
        stdout: '',
        stderr: `packgate: no gateway answers at ${url}. Start it with "packgate serve".\n`,
      });
    }
  });

  it('because something else answers', async () => {
    for (const [status, body] of [
      [404, '{"error":"no such path","code":"not-found"}'],
      [200, '<html>'],
      [200, '[]'],
      [502, ''],
    ] as const) {
      const other = createServer((_request, response) => void response.writeHead(status).end(body));
      onTestFinished(() => void other.close());
      await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
      const url = `http://127.0.0.1:${(other.address() as { port: number }).port}`;
      const { code, stderr } = await packgate(['status', '--url', url]);
      expect([code, stderr]).toEqual([
        69,
        `packgate: what answers at ${url} (status ${status}) is no admin listener. Is it the admin listener, and not the public one?\n`,
      ]);
    }
  });

  it.each(['{"deployments":5}', '{"deployments":[{"tenant":"a"}]}', '{}'])('because it answers %s', async (body) => {
    const other = createServer((_request, response) => void response.end(body));
    onTestFinished(() => void other.close());
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(other.address() as { port: number }).port}`;
    const { code, stderr } = await packgate(['status', '--url', url]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be understood')]);
  });

  it('because it hangs up', async () => {
    const other = createServer((request) => request.socket.destroy());
    onTestFinished(() => void other.close());
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(other.address() as { port: number }).port}`;
    const { code, stderr } = await packgate(['status', '--url', url]);
    expect([code, stderr]).toEqual([69, `packgate: no gateway answers at ${url} (socket hang up). Is it running?\n`]);
  });

  it('because of the token: exit code 1, and what to do', async () => {
    const { address } = await openAdmin('tcp', host());
    for (const env of [{}, { PACKGATE_ADMIN_TOKEN: `${ADMIN_TOKEN}x` }]) {
      const { code, stderr } = await packgate(['status', '--url', address], { env });
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('does not take this token. Set PACKGATE_ADMIN_TOKEN'),
      ]);
    }
    const env = { PACKGATE_ADMIN_TOKEN: ADMIN_TOKEN };
    expect((await packgate(['status', '--url', address], { env })).code).toBe(0);
  });
});
