// A pack that went wrong is undone by one command: the index and the code that served before, without a lost call.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DeploymentStatus } from '../../gateway/supervisor/status.ts';
import { askAt } from '../gateway/admin/openAdmin.ts';
import { writeFiles } from '../gateway/supervisor/support/packSources.ts';
import { invoke } from '../support/calls.ts';
import { expectRan, expectTryAgain } from '../support/expectations.ts';
import { temporaryFolder, until } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { killProcess } from '../support/processes.ts';
import { createStubPack } from '../support/stubPack.ts';

/** The operators' side of the gateway of this folder, for its tenant's only deployment. */
function operate(folder: string, tenantId: string) {
  const ask = (path: string, method: string) =>
    askAt(`unix:${join(folder, 'state', 'admin.sock')}`, `/v1/deployments/${tenantId}/default${path}`, { method });
  const status = async () => (await ask('', 'GET')).json as unknown as DeploymentStatus;
  const deployments = join(folder, 'state', 'deployments');
  return {
    /** What is changed before its code has been copied cannot be gone back to. */
    copied: () =>
      until('the code of what serves has been copied', async () => {
        const { build = 'none' } = await status();
        return readdirSync(deployments).some((name) => existsSync(join(deployments, name, 'builds', build, 'pack')));
      }),
    order: (name: 'reload' | 'rollback') => ask(`/${name}?wait=60s`, 'POST'),
    status,
  };
}

const TOOL = `
import { value } from '../lib/value.ts';
export default { id: 'which.one', version: '1.0.0', input: {}, output: {}, handler: (): unknown => ({ value }) };
`;

// Six starts of a TypeScript pack, half of them indexed first.
it(
  'goes back to index and code, survives a crash and a new gateway, and ends with a reload',
  { timeout: 90_000 },
  async () => {
    const folder = temporaryFolder();
    const tenantId = randomUUID();
    const pack = join(folder, 'pack');
    mkdirSync(pack);
    const write = (value: string, version: string): void =>
      writeFiles(pack, {
        'lib/value.ts': `export const value: string = '${value}';`,
        'kindgi.config.mjs': `export default { pack: { id: 'which', version: '${version}' } };`,
      });
    writeFiles(pack, { 'tools/which.ts': TOOL });
    write('one', '1.0.0');
    const options = { folder, tenants: { [tenantId]: { pack } } };
    let gateway = await startGateway(options);
    const { copied, order, status } = operate(folder, tenantId);
    const value = async (): Promise<unknown> => {
      const { status: code, json, text } = await invoke(gateway, tenantId, { toolId: 'which.one' });
      if (code !== 200) throw new Error(text);
      return (json.output as { value?: unknown }).value;
    };

    expect(await value()).toBe('one');
    const first = (await status()).build;
    await copied();
    write('two', '2.0.0');
    expect(await order('reload')).toMatchObject({ status: 200 });
    expect(await value()).toBe('two');
    expect(await status()).toMatchObject({ previousBuild: first, isRolledBack: false });

    // Calls all the while: none is refused, none fails.
    let isDone = false;
    const calling = (async () => {
      const seen = new Set<unknown>();
      while (!isDone) seen.add(await value());
      return seen;
    })();
    const wentBack = await order('rollback').finally(() => (isDone = true));
    expect(wentBack).toMatchObject({ status: 200 });
    expect([...(await calling)].every((one) => one === 'one' || one === 'two')).toBe(true);
    expect(await value()).toBe('one');
    const back = await status();
    expect(back).toMatchObject({ build: first, isRolledBack: true });
    expect(back.boots[0]).toMatchObject({ cause: 'rollback', outcome: 'ready' });

    killProcess(back.serving?.pid ?? 0);
    await gateway.waitForRecord(
      ({ event, instance }) => event === 'instance-exited' && instance === back.serving?.name,
    );
    expect(await value()).toBe('one');

    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    gateway = await startGateway(options);
    const warning = await gateway.waitForRecord(({ event }) => event === 'rolled-back');
    expect(warning).toMatchObject({ tenant: tenantId, build: first });
    expect(warning.msg ?? warning.message).toContain(`packgate reload ${tenantId}/default`);
    expect(await value()).toBe('one');

    expect(await order('reload')).toMatchObject({ status: 200 });
    expect(await value()).toBe('two');
    expect(await status()).toMatchObject({ previousBuild: first, isRolledBack: false });
  },
);

it('after a reload that failed goes back to what serves, so that a crash does not meet the broken code', async () => {
  const { folder, gateway, stubs } = await hostStubs({ a: {} });
  const { copied, order, status } = operate(folder, stubs.a.tenantId);
  expectRan(await stubs.a.invoke());
  const { build } = await status();
  await copied();
  stubs.a.behave({ bootFailure: { problems: ['broken'] } });
  expect(await order('reload')).toMatchObject({ status: 409 });
  expect(await order('rollback')).toMatchObject({ status: 200 });
  const { serving, isRolledBack } = await status();
  expect([serving?.build, isRolledBack]).toEqual([build, true]);
  killProcess(serving?.pid ?? 0);
  await gateway.waitForRecord(({ event, instance }) => event === 'instance-exited' && instance === serving?.name);
  await until('it serves again', async () => (await stubs.a.invoke()).status === 200);
  // What it writes into its folder goes on, where the folder had it.
  expect(stubs.a.starts()).toHaveLength(4);
});

it('gets a pack up again that was broken while the gateway was down, also after a reload that did not help', async () => {
  const folder = temporaryFolder();
  const tenantId = randomUUID();
  const pack = createStubPack(folder, 'a');
  const options = { folder, tenants: { [tenantId]: pack.deployment() } };
  let gateway = await startGateway(options);
  const { copied, order, status } = operate(folder, tenantId);
  expectRan(await invoke(gateway, tenantId));
  const { build } = await status();
  await copied();
  await gateway.stop();
  pack.behave({ bootFailure: { problems: ['broken'] } });
  gateway = await startGateway(options);
  expectTryAgain(await invoke(gateway, tenantId));
  expect(await order('reload')).toMatchObject({ status: 409 });
  expect(await status()).toMatchObject({ previousBuild: build });
  expect(await order('rollback')).toMatchObject({ status: 200 });
  expect(await status()).toMatchObject({ build, isRolledBack: true });
  expectRan(await invoke(gateway, tenantId));
});

it('is refused with the reason when there is nothing to go back to', async () => {
  const { folder, stubs } = await hostStubs({ a: {} });
  const { order } = operate(folder, stubs.a.tenantId);
  expectRan(await stubs.a.invoke());
  expect(await order('rollback')).toMatchObject({
    status: 409,
    json: { code: 'no-previous-build', error: expect.stringContaining('no build before') as string },
  });
});
