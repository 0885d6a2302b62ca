// What operators see and do: the built commands against a real gateway with real processes.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DeploymentStatus } from '../../gateway/supervisor/status.ts';
import { expectRan, expectTryAgain } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { send } from '../support/http.ts';
import { processesMentioning } from '../support/processes.ts';

const MAIN = resolve(process.env.PACKGATE_TEST_DIST ?? 'dist', 'gateway/main.js');
const ADMIN_TOKEN = 'the-token-of-the-operators';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program in `folder`, as an operator does. */
function packgate(
  folder: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  return new Promise((done) => {
    execFile(
      process.execPath,
      [MAIN, ...argv],
      { cwd: folder, env: { PATH: process.env.PATH, ...env } },
      (error, stdout, stderr) => {
        done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });
}

async function look(folder: string, deployment: string): Promise<DeploymentStatus> {
  const { stdout, stderr } = await packgate(folder, ['status', deployment, '--json']);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as DeploymentStatus;
}

describe('the commands on a running gateway', () => {
  it('find it by its configuration, show what it does, and drive it', async () => {
    const { folder, gateway, stubs } = await hostStubs({ a: {}, b: {} });
    const name = stubs.a.tenantId;
    const socket = join(folder, 'state', 'admin.sock');
    expect([statSync(socket).mode & 0o777, statSync(join(folder, 'state')).mode & 0o777]).toEqual([0o600, 0o700]);

    const all = await packgate(folder, ['status']);
    expect([all.code, all.stderr]).toEqual([0, '']);
    expect(all.stdout.split('\n').filter((line) => / idle /.test(line))).toHaveLength(2);

    expectRan(await stubs.a.invoke());
    const ready = await look(folder, name);
    expect(ready).toMatchObject({ state: 'ready', deployment: 'default', calls: { total: 1 } });
    const pid = ready.serving?.pid ?? 0;
    expect(processesMentioning(folder)).toContain(pid);
    expect(ready.boots[0]).toMatchObject({ cause: 'call', outcome: 'ready', verdict: { port: 'verified' } });
    expect(ready.boots[0]?.steps.map(({ step }) => step)).toEqual([
      'queue',
      'index',
      'launch',
      'listen',
      'ready',
      'proof',
    ]);

    const restarted = await packgate(folder, ['restart', name, '--wait']);
    expect([restarted.code, restarted.stderr]).toEqual([0, '']);
    const after = await look(folder, name);
    expect(after.serving?.pid).not.toBe(pid);
    expect(after.boots[0]).toMatchObject({ cause: 'restart', outcome: 'ready' });
    expectRan(await stubs.a.invoke());

    expect((await packgate(folder, ['stop', name, '--wait'])).code).toBe(0);
    expectTryAgain(await stubs.a.invoke(), 'stopped');
    expect(await look(folder, name)).toMatchObject({ state: 'stopped' });
    expectRan(await stubs.b.invoke());

    expect((await packgate(folder, ['start', name, '--wait'])).code).toBe(0);
    expectRan(await stubs.a.invoke());

    const rollback = await packgate(folder, ['rollback', name]);
    expect([rollback.code, rollback.stderr]).toEqual([1, expect.stringContaining('(no-previous-build)')]);
    expect(await packgate(folder, ['reload'])).toEqual({ code: 0, stdout: 'nothing has changed\n', stderr: '' });
    expect((await packgate(folder, ['reload', name, '--wait'])).code).toBe(0);

    const orders = gateway.records.filter(({ event }) => event === 'order');
    expect(orders.map(({ order, who, tenant }) => [order, who, tenant])).toEqual([
      ['restart', 'unix', name],
      ['stop', 'unix', name],
      ['start', 'unix', name],
      ['rollback', 'unix', name],
      ['reload', 'unix', undefined],
      ['reload', 'unix', name],
    ]);

    expect((await gateway.stop()).code).toBe(0);
    expect(existsSync(socket)).toBe(false);
    const gone = await packgate(folder, ['status']);
    expect([gone.code, gone.stderr]).toEqual([
      69,
      `packgate: no gateway answers at unix:${socket}. Start it with "packgate serve".\n`,
    ]);
  });

  it('show why a pack does not start: step, problems, exit and last words, with nothing that acts on a terminal', async () => {
    const bootFailure = { exitCode: 3, noiseBytes: 300, problems: ['no module \u001b[31ma'] };
    const settings = { restart: { min: '30s' } };
    const { folder, stubs } = await hostStubs({ a: { behaviour: { bootFailure }, settings } });
    expectTryAgain(await stubs.a.invoke(), 'cooling');
    const { code, stdout } = await packgate(folder, ['status', stubs.a.tenantId]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/ {2}cooling\n/);
    expect(stdout).toMatch(/next try +in /);
    expect(stdout).toContain('its process ended with exit code 3');
    expect(stdout).toContain('- no module \\u{1b}[31ma\n');
    expect(stdout).toContain('| noise nnn');
    const failed = await packgate(folder, ['start', stubs.a.tenantId, '--wait']);
    expect([failed.code, failed.stdout]).toEqual([1, '']);
    expect(failed.stderr).toContain('(boot-failed)');
    expect(failed.stderr).toContain('  no module \\u{1b}[31ma\n');
  });

  it('go on working while it drains', async () => {
    const { folder, gateway, stubs } = await hostStubs({ a: {} });
    const call = stubs.a.invoke({ input: { act: 'sleep', ms: 2_000 } });
    await until('the call runs', () => stubs.a.runs().length === 1);
    gateway.signal('SIGTERM');
    await gateway.waitForRecord(({ event }) => event === 'draining');
    const { code, stdout } = await packgate(folder, ['status']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('draining for ')]);
    const order = await packgate(folder, ['restart', stubs.a.tenantId, '--wait']);
    expect([order.code, order.stderr]).toEqual([1, expect.stringContaining('(closed)')]);
    expectRan(await call);
    expect((await gateway.exit).code).toBe(0);
  });
});

describe('the admin listener over TCP', () => {
  it('asks for its own token, and nothing of it is on the public listener', async () => {
    const { folder, gateway, stubs } = await hostStubs(
      { a: {} },
      {
        configuration: { admin: { listen: '127.0.0.1:0', token: { env: 'ADMIN' } } },
        env: { ADMIN: ADMIN_TOKEN },
      },
    );
    const { adminAddress } = await gateway.waitForRecord(({ event }) => event === 'listening');
    const url = String(adminAddress);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const authorization = `Bearer ${ADMIN_TOKEN}`;
    expect((await send(url, { path: '/v1/deployments', headers: { authorization } })).status).toBe(200);
    expect((await send(url, { path: '/v1/deployments' })).status).toBe(401);
    // The token of callers opens nothing here, and that of operators nothing there.
    const callers = { authorization: `Bearer ${gateway.token}`, 'kindgi-pack-token': gateway.token };
    expect((await send(url, { path: '/v1/deployments', headers: callers })).status).toBe(401);
    expect((await send(url, { path: '/v1/info', headers: { authorization } })).status).toBe(404);
    for (const path of ['/v1/deployments', '/v1/gateway', '/v1/reload']) {
      expect((await send(gateway.address, { path, headers: callers })).status).toBe(404);
    }
    const wrong = await packgate(folder, ['status', '--url', url]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('does not take this token')]);
    const right = await packgate(folder, ['status', '--url', url], { PACKGATE_ADMIN_TOKEN: ADMIN_TOKEN });
    expect([right.code, right.stdout]).toEqual([0, expect.stringContaining(stubs.a.tenantId)]);
    const lost = await packgate(folder, ['status', '--url', gateway.address]);
    expect([lost.code, lost.stderr]).toEqual([69, expect.stringContaining('is no admin listener')]);
    expect(gateway.output()).not.toContain(ADMIN_TOKEN);
  });
});

describe('the README', () => {
  const readme = readFileSync('README.md', 'utf8');
  const [section = ''] = readme.slice(readme.indexOf('\n## Look at it and drive it\n') + 1).split(/\n## /);
  const commands = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  const hasCurl = spawnSync('curl', ['--version'], { stdio: 'ignore' }).status === 0;

  it.skipIf(!hasCurl)('has commands that work as they stand', async () => {
    const tenantId = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
    const { folder } = await hostStubs({ a: { tenantId } }, { configuration: { stateDir: '.packgate' } });
    expect(commands).toHaveLength(3);
    for (const command of commands) {
      const script = command.replaceAll('node dist/gateway/main.js', `${process.execPath} ${MAIN}`);
      const { status, stdout } = spawnSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8' });
      expect([script, status, stdout.includes(tenantId)]).toEqual([script, 0, true]);
    }
  });
});
