import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load } from '../../../gateway/config/load.ts';
import { configurationOf, HOST_ENV, makeFolder, TENANT_A, TENANT_B, warningsOf, withTenant } from './folder.ts';

const INDEX = JSON.stringify({ v: 1, packId: 'p' });

describe('a configuration with nothing but what must be there', () => {
  it('gets the defaults', async () => {
    const folder = makeFolder({ 'packgate.yaml': withTenant() });
    const loaded = await load('packgate.yaml', { env: HOST_ENV, cwd: folder });
    expect(loaded).toEqual({
      warnings: [],
      configuration: {
        file: join(folder, 'packgate.yaml'),
        listen: { kind: 'tcp', host: '127.0.0.1', port: 8787 },
        stateDir: join(folder, '.packgate'),
        tokens: [{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string, tenants: 'any' }],
        bodiesBytes: 64 * 1024 * 1024,
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

it('hundreds of tenants are read in a moment', async () => {
  const tenants = Array.from({ length: 500 }, (_, n) => `  t${n}: { pack: packs/a, idle: ${n + 1}s }`);
  const started = performance.now();
  const { deployments } = await configurationOf(`tokens: [{ env: TOKEN }]\ntenants:\n${tenants.join('\n')}`);
  expect(deployments).toHaveLength(500);
  expect(performance.now() - started).toBeLessThan(10_000);
});
