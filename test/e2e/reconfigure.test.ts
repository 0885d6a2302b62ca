// The configuration of a running gateway changes: who changed moves, nobody else does, and no call is lost.
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { invoke } from '../support/calls.ts';
import { expectRan, expectTenantMismatch } from '../support/expectations.ts';
import { temporaryFolder, until } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway, GatewayOptions } from '../support/gateway.ts';
import { processesMentioning } from '../support/processes.ts';
import { createStubPack } from '../support/stubPack.ts';
import type { StubPack } from '../support/stubPack.ts';

interface Hosted {
  readonly folder: string;
  readonly gateway: Gateway;
  readonly packs: { readonly a: StubPack; readonly b: StubPack };
  /** Writes the file of a tenant whose pack is one of the two. */
  readonly writeTenant: (id: string, pack: 'a' | 'b', settings?: Readonly<Record<string, unknown>>) => void;
  readonly removeTenant: (id: string) => void;
  /** The record of the nth change that was applied, from 1. */
  readonly applied: (n: number) => Promise<Readonly<Record<string, unknown>>>;
}

/** A gateway whose tenants are files. Tenant `a` is there from the start. */
async function host(options: Partial<GatewayOptions> = {}): Promise<Hosted> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'tenants.d'));
  const packs = { a: createStubPack(folder, 'a'), b: createStubPack(folder, 'b') };
  const fileOf = (id: string): string => join(folder, 'tenants.d', `${id}.yaml`);
  const writeTenant: Hosted['writeTenant'] = (id, pack, settings) =>
    writeFileSync(fileOf(id), JSON.stringify(packs[pack].deployment(settings)));
  writeTenant('a', 'a');
  const configuration = { tenantsDir: 'tenants.d', ...options.configuration };
  const gateway = await startGateway({ folder, tenants: {}, ...options, configuration });
  return {
    folder,
    gateway,
    packs,
    writeTenant,
    removeTenant: (id) => rmSync(fileOf(id)),
    applied: (n) =>
      until(
        'the change is applied',
        () => gateway.records.filter(({ event }) => event === 'config-applied')[n - 1],
        10_000,
      ),
  };
}

/** Starts a call and returns when the pack has it. */
async function callInFlight(gateway: Gateway, tenantId: string, pack: StubPack, ms: number) {
  const requestId = randomUUID();
  const answer = invoke(gateway, tenantId, { requestId, input: { act: 'sleep', ms } });
  answer.catch(() => undefined);
  await until('the call runs', () => pack.runs().some((run) => run.requestId === requestId));
  return { answer };
}

describe('tenants as files', () => {
  it('come, change and go while a neighbour’s call goes on, in the same process', async () => {
    const { gateway, packs, writeTenant, removeTenant, applied } = await host();
    const { answer } = await callInFlight(gateway, 'a', packs.a, 6_000);
    expectTenantMismatch(await invoke(gateway, 'b'));

    writeTenant('b', 'b');
    expect(await applied(1)).toMatchObject({ added: ['b/default'], removed: [], changed: [] });
    expect(expectRan(await invoke(gateway, 'b')).start).toBe(1);

    writeTenant('b', 'b', { env: { NEW: 'value' } });
    expect(await applied(2)).toMatchObject({ added: [], removed: [], changed: ['b/default'] });
    await until('the next process serves', async () => expectRan(await invoke(gateway, 'b')).start === 2);

    removeTenant('b');
    expect(await applied(3)).toMatchObject({ added: [], removed: ['b/default'], changed: [] });
    expectTenantMismatch(await invoke(gateway, 'b'));
    await until('no process of b is left', () => processesMentioning(packs.b.folder).length === 0);

    expectRan(await answer);
    expectRan(await invoke(gateway, 'a'));
    expect(packs.a.starts()).toHaveLength(1);
    expect(packs.a.events('signal')).toEqual([]);
  });

  it('that go while they have a call let it end', async () => {
    const { gateway, packs, removeTenant, applied } = await host();
    const { answer } = await callInFlight(gateway, 'a', packs.a, 2_000);
    removeTenant('a');
    await applied(1);
    expectTenantMismatch(await invoke(gateway, 'a'));
    expectRan(await answer);
    await until('no process is left', () => processesMentioning(packs.a.folder).length === 0);
    expect(packs.a.starts()).toHaveLength(1);
  });

  it('that are half written change nothing, and are taken when they are whole', async () => {
    const { folder, gateway, packs, applied } = await host();
    const whole = JSON.stringify(packs.b.deployment());
    const file = join(folder, 'tenants.d/b.yaml');
    writeFileSync(file, whole.slice(0, whole.length / 2));
    const refused = await gateway.waitForRecord(({ event }) => event === 'config-rejected');
    expect(refused.level).toBe('error');
    expect(refused.message).toMatch(/tenants\.d\/b\.yaml:1:\d+: expected /);
    expectTenantMismatch(await invoke(gateway, 'b'));
    expectRan(await invoke(gateway, 'a'));
    writeFileSync(file, whole);
    await applied(1);
    expectRan(await invoke(gateway, 'b'));
  });

  it('may change all the time, and no call of theirs or of others is lost', async () => {
    const { gateway, packs, writeTenant, applied } = await host();
    writeTenant('b', 'b');
    await applied(1);
    const answers: Promise<{ status: number }>[] = [];
    let isOver = false;
    const calling = (async () => {
      while (!isOver) {
        for (const tenant of ['a', 'b']) answers.push(invoke(gateway, tenant));
        await delay(25);
      }
    })();
    for (let round = 1; round <= 10; round += 1) {
      // In turn: what takes another process, and what takes effect in place.
      writeTenant('b', 'b', round % 2 === 0 ? { env: { ROUND: String(round) } } : { idle: `${round}m` });
      await applied(round + 1);
    }
    isOver = true;
    await calling;
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.length).toBeGreaterThan(50);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(packs.a.starts()).toHaveLength(1);
  });
});

describe('SIGHUP', () => {
  it('reads the configuration again, and twice in a row does no harm', async () => {
    const { folder, gateway, packs } = await host();
    expectRan(await invoke(gateway, 'a'));
    const file = join(folder, 'packgate.yaml');
    const configuration = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...configuration, bodies: '65MiB', tenants: { c: packs.b.deployment() } }));
    gateway.signal('SIGHUP');
    gateway.signal('SIGHUP');
    const record = await gateway.waitForRecord(({ event }) => event === 'config-applied');
    expect(record).toMatchObject({ added: ['c/default'], removed: [], changed: [], needsRestart: ['bodies'] });
    expectRan(await invoke(gateway, 'c'));
    expectRan(await invoke(gateway, 'a'));
    expect(packs.a.starts()).toHaveLength(1);
    expect((await gateway.stop()).code).toBe(0);
    expect(gateway.records.filter(({ event }) => event === 'config-applied')).toHaveLength(1);
    expect(processesMentioning(folder)).toEqual([]);
  });

  it('to a gateway that drains changes nothing about its end', async () => {
    const { gateway, packs } = await host();
    const { answer } = await callInFlight(gateway, 'a', packs.a, 1_500);
    gateway.signal('SIGTERM');
    await until('it drains', () => packs.a.events('signal').length === 1);
    gateway.signal('SIGHUP');
    expectRan(await answer);
    expect(await gateway.exit).toEqual({ code: 0, signal: null });
    expect(packs.a.events('signal')).toHaveLength(1);
  });
});

describe('a token in a file', () => {
  it('is rotated without a lost call or a new process', async () => {
    const folder = temporaryFolder();
    const pack = createStubPack(folder, 'a');
    const [old, next] = [randomBytes(24).toString('hex'), randomBytes(24).toString('hex')];
    writeFileSync(join(folder, 'caller.token'), old);
    const gateway = await startGateway({
      folder,
      tenants: { a: pack.deployment() },
      tokens: [{ file: 'caller.token' }],
    });
    expectRan(await invoke(gateway, 'a', { token: old }));
    const { answer } = await (async () => {
      const requestId = randomUUID();
      const pending = invoke(gateway, 'a', { requestId, token: old, input: { act: 'sleep', ms: 1_500 } });
      await until('the call runs', () => pack.runs().some((run) => run.requestId === requestId));
      return { answer: pending };
    })();
    writeFileSync(join(folder, 'next'), next);
    renameSync(join(folder, 'next'), join(folder, 'caller.token'));
    await gateway.waitForRecord(({ event }) => event === 'config-applied');
    expect((await invoke(gateway, 'a', { token: old })).status).toBe(401);
    expectRan(await invoke(gateway, 'a', { token: next }));
    expectRan(await answer);
    expect(pack.starts()).toHaveLength(1);
    for (const token of [old, next, createHash('sha256').update(next).digest('hex')]) {
      expect(gateway.output()).not.toContain(token);
    }
  });
});

describe('a token in a pipe', () => {
  it('is still known when the configuration is read again', async () => {
    const folder = temporaryFolder();
    const pack = createStubPack(folder, 'a');
    const token = randomBytes(24).toString('hex');
    expect(spawnSync('mkfifo', [join(folder, 'pipe')]).status).toBe(0);
    const writing = writeFile(join(folder, 'pipe'), token);
    const gateway = await startGateway({ folder, tenants: { a: pack.deployment() }, tokens: [{ file: 'pipe' }] });
    await writing;
    gateway.signal('SIGHUP');
    await gateway.waitForRecord(({ event }) => event === 'config-unchanged');
    expectRan(await invoke(gateway, 'a', { token }));
    expect(gateway.records.filter(({ event }) => event === 'config-rejected')).toEqual([]);
  });
});

describe('the README', () => {
  const root = resolve(import.meta.dirname, '../..');
  const readme = readFileSync(join(root, 'README.md'), 'utf8');

  /** The blocks of that language in a section. */
  function blocks(language: string, heading: string): string[] {
    const [section = ''] = readme.slice(readme.indexOf(`\n## ${heading}\n`) + 1).split(/\n## /);
    return [...section.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
      ([, text = '']) => text,
    );
  }

  it('has commands that add a tenant and reload, and they do', async () => {
    const folder = temporaryFolder();
    cpSync(join(root, 'deploy/demo/packs'), join(folder, 'packs'), { recursive: true });
    mkdirSync(join(folder, 'tenants.d'));
    const gateway = await startGateway({
      folder,
      tenants: { first: { pack: 'packs/support' } },
      configuration: { tenantsDir: 'tenants.d', stateDir: '.packgate' },
    });
    const [add = ''] = blocks('sh', 'Add, change and remove tenants');
    const added = spawnSync('sh', ['-c', add], { cwd: folder, encoding: 'utf8' });
    expect(added).toMatchObject({ status: 0, stderr: '' });
    const record = await gateway.waitForRecord(({ event }) => event === 'config-applied');
    expect(record).toMatchObject({ added: [expect.stringMatching(/^[0-9a-f-]{36}\/default$/)], removed: [] });
    const [reload = ''] = blocks('sh', 'Reload');
    const reloaded = spawnSync('sh', ['-c', reload], { cwd: folder, encoding: 'utf8' });
    expect(reloaded).toMatchObject({ status: 0, stderr: '' });
    await gateway.waitForRecord(({ event }) => event === 'config-unchanged');
  });
});
