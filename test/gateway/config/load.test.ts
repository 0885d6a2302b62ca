import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load } from '../../../gateway/config/load.ts';
import {
  configurationOf,
  HOST_ENV,
  loadYaml,
  makeFolder,
  TENANT_A,
  TENANT_B,
  TOKEN,
  warningsOf,
  withTenant,
} from './folder.ts';

const INDEX = JSON.stringify({ v: 1, packId: 'p' });

describe('a configuration with nothing but what must be there', () => {
  it('gets the defaults', async () => {
    const folder = makeFolder({ 'packgate.yaml': withTenant() });
    const loaded = await load('packgate.yaml', { env: HOST_ENV, cwd: folder });
    const sources = [join(folder, 'packgate.yaml')];
    expect(loaded).toEqual({
      warnings: [],
      sources,
      configuration: {
        file: join(folder, 'packgate.yaml'),
        listen: { kind: 'tcp', host: '127.0.0.1', port: 8787 },
        stateDir: join(folder, '.packgate'),
        tokens: [{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string, tenants: 'any' }],
        bodiesBytes: 64 * 1024 * 1024,
        admin: { listen: { kind: 'unix', path: join(folder, '.packgate/admin.sock') } },
        memoryBytes: Infinity,
        boots: Math.max(2, availableParallelism()),
        sources,
        deployments: [
          {
            tenantId: TENANT_A,
            name: 'default',
            isDefault: true,
            hosts: [],
            path: join(folder, 'packs/a'),
            runtime: { kind: 'node', node: process.execPath },
            env: {},
            envCheck: 'strict',
            bootTimeoutMs: 60_000,
            drainMs: 8000,
            concurrency: 32,
            queue: { size: 1000, waitMs: 30_000 },
            restart: { minMs: 250, maxMs: 60_000, healthyMs: 60_000 },
            idleMs: 900_000,
            start: 'lazy',
            recycle: { ageMs: Infinity, calls: Infinity, memoryBytes: Infinity },
          },
        ],
      },
    });
  });

  it('is frozen through and through', async () => {
    const configuration = await configurationOf(withTenant('env: { A: b }'));
    const parts: object[] = [configuration, ...configuration.deployments, ...configuration.tokens];
    for (const { env, queue, runtime } of configuration.deployments) parts.push(env, queue, runtime);
    expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true));
  });

  it('may as well be JSON', async () => {
    const json = { tokens: [{ env: 'TOKEN' }], tenants: { [TENANT_A]: { pack: 'packs/a' } } };
    expect((await configurationOf(JSON.stringify(json, undefined, '\t'))).deployments).toHaveLength(1);
  });
});

describe('settings', () => {
  it('are those of the nearest place, part by part', async () => {
    const { deployments } = await configurationOf(`
tokens: [{ env: TOKEN }]
defaults: { idle: 1m, drain: 1s, concurrency: 1, queue: { size: 1, wait: 1s }, env: { A: d, B: d, C: d } }
tenants:
  ${TENANT_A}: { pack: packs/a }
  ${TENANT_B}:
    drain: 2s
    queue: { size: 2 }
    env: { B: t, C: t }
    packs:
      one: { path: packs/a, default: true, concurrency: 3, env: { C: p } }
      two: { path: packs/b, idle: never, deploymentId: d }
`);
    expect(
      deployments.map(({ name, idleMs, drainMs, concurrency, queue }) => [name, idleMs, drainMs, concurrency, queue]),
    ).toEqual([
      ['default', 60_000, 1000, 1, { size: 1, waitMs: 1000 }],
      ['one', 60_000, 2000, 3, { size: 2, waitMs: 1000 }],
      ['two', Infinity, 2000, 1, { size: 2, waitMs: 1000 }],
    ]);
    expect(deployments.map(({ env }) => ({ ...env }))).toEqual([
      { A: 'd', B: 'd', C: 'd' },
      { A: 'd', B: 't', C: 'p' },
      { A: 'd', B: 't', C: 't' },
    ]);
  });

  it('say when a process is there, and when it is replaced', async () => {
    const { deployments, memoryBytes, boots } = await configurationOf(`
memory: 2GiB
boots: 3
tokens: [{ env: TOKEN }]
defaults: { start: eager, recycle: { calls: 10, memory: 1MiB } }
tenants:
  ${TENANT_A}: { pack: packs/a, recycle: { age: 1s } }
  ${TENANT_B}: { pack: packs/b, start: lazy, recycle: { calls: 20 } }
`);
    expect([memoryBytes, boots]).toEqual([2 ** 31, 3]);
    expect(deployments.map(({ start, recycle }) => [start, recycle])).toEqual([
      ['eager', { ageMs: 1000, calls: 10, memoryBytes: 2 ** 20 }],
      ['lazy', { ageMs: Infinity, calls: 20, memoryBytes: 2 ** 20 }],
    ]);
  });

  it('may be the folder of a pack that all tenants share', async () => {
    const { deployments } = await configurationOf(
      `tokens: [{ env: TOKEN }]\ndefaults: { path: packs/a }\ntenants: { ${TENANT_A}: {}, ${TENANT_B}: {} }`,
    );
    expect(deployments.map(({ name, path }) => [name, path.split('/').at(-1)])).toEqual([
      ['default', 'a'],
      ['default', 'a'],
    ]);
  });
});

describe('the index', () => {
  const indexOf = async (files: Record<string, string>, ...lines: string[]): Promise<string | undefined> =>
    (await configurationOf(withTenant(...lines), files)).deployments[0]?.index?.replace(/^.*packgate-config-\w+\//, '');

  it('is the configured one, else dist/index.json, else index.json, else built at start', async () => {
    const files = { 'i.json': INDEX, 'packs/a/index.json': INDEX };
    expect(await indexOf({ ...files, 'packs/a/dist/index.json': INDEX }, 'index: i.json')).toBe('i.json');
    expect(await indexOf({ ...files, 'packs/a/dist/index.json': INDEX })).toBe('packs/a/dist/index.json');
    expect(await indexOf(files)).toBe('packs/a/index.json');
    expect(await indexOf({})).toBeUndefined();
  });

  it.each(['sha256:AA', 'AA', 'aa'])('may be pinned by its hash, written as %s…', async (written) => {
    const { deployments } = await configurationOf(withTenant(`indexHash: "${written}${'bc'.repeat(31)}"`));
    expect(deployments[0]?.indexHash).toBe(`sha256:aa${'bc'.repeat(31)}`);
  });

  it('that was found and cannot be served is warned of: the other tenants can do without it', async () => {
    const [warning] = await warningsOf(withTenant(), { 'packs/a/index.json': '{"v":7}' });
    expect(warning).toContain('packs/a/index.json is what will be served, but is a file whose "v" is the number 7');
  });
});

describe('paths', () => {
  it('count from the folder of the file, not from the working folder', async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'etc'));
    writeFileSync(join(folder, 'etc/packgate.yaml'), withTenant('index: ../i.json').replace('packs/a', '../packs/a'));
    writeFileSync(join(folder, 'i.json'), INDEX);
    const loaded = await load(join(folder, 'etc/packgate.yaml'), { env: HOST_ENV, cwd: '/' });
    expect(loaded).toMatchObject({
      configuration: {
        stateDir: join(folder, 'etc/.packgate'),
        deployments: [{ path: join(folder, 'packs/a'), index: join(folder, 'i.json') }],
      },
    });
  });
});

describe('sources', () => {
  it('are all files whose change changes the configuration or what is served, the configuration first', async () => {
    const files = {
      'all.env': 'A=1',
      'key.txt': 'k',
      'caller.token': `${TOKEN}-3`,
      'operator.token': `${TOKEN}-4`,
      'i.json': INDEX,
      'packs/b/dist/index.json': INDEX,
      [`tenants.d/${TENANT_B}.yaml`]: 'pack: ../packs/b',
    };
    const loaded = await loadYaml(
      `admin: { token: { file: operator.token } }
tenantsDir: tenants.d
tokens: [{ file: caller.token }]
defaults: { envFiles: [all.env] }
tenants: { ${TENANT_A}: { pack: packs/a, index: i.json, env: { K: { file: key.txt } } } }`,
      files,
    );
    const folder = dirname(loaded.sources[0] ?? '');
    const expected = ['packgate.yaml', 'tenants.d', ...Object.keys(files)].map((name) => join(folder, name));
    expect([...loaded.sources].toSorted()).toEqual(expected.toSorted());
    expect(loaded.sources[0]).toBe(join(folder, 'packgate.yaml'));
    expect(loaded).toMatchObject({ configuration: { sources: loaded.sources } });
  });

  it('of a configuration that is bad are known, too, the missing ones among them', async () => {
    const loaded = await loadYaml(withTenant('env: { K: { file: none.txt } }'));
    expect('problems' in loaded && loaded.sources.map((path) => basename(path))).toEqual(['packgate.yaml', 'none.txt']);
  });

  it('that are pipes give what they gave at first: they can be read once', async () => {
    const folder = makeFolder({ 'packgate.yaml': withTenant().replace('env: TOKEN', 'file: pipe') });
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const pipes = new Map<string, string>();
    const first = load('packgate.yaml', { env: {}, cwd: folder, pipes });
    await writeFile(join(folder, 'pipe'), TOKEN);
    const again = await load('packgate.yaml', { env: {}, cwd: folder, pipes });
    expect(again).toEqual(await first);
    expect(again).toHaveProperty('configuration');
  });
});

it('hundreds of tenants are read in a moment', async () => {
  const tenants = Array.from({ length: 500 }, (_, n) => `  t${n}: { pack: packs/a, idle: ${n + 1}s }`);
  const started = performance.now();
  const { deployments } = await configurationOf(`tokens: [{ env: TOKEN }]\ntenants:\n${tenants.join('\n')}`);
  expect(deployments).toHaveLength(500);
  expect(performance.now() - started).toBeLessThan(10_000);
});
