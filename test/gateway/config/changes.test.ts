import { expect, it } from 'vitest';
import { changesBetween, nameOf } from '../../../gateway/config/changes.ts';
import type { Configuration, DeploymentSettings } from '../../../gateway/config/configuration.ts';
import { load } from '../../../gateway/config/load.ts';
import { HOST_ENV, makeFolder, TENANT_A, TENANT_B, withTenant } from './folder.ts';

const folder = makeFolder({
  'packgate.yaml': `${withTenant('env: { A: b }')}
  ${TENANT_B}: { packs: { one: { path: packs/a, default: true }, two: { path: packs/b } } }`,
});

async function read(): Promise<Configuration> {
  const loaded = await load('packgate.yaml', { env: HOST_ENV, cwd: folder });
  if ('problems' in loaded) throw new Error('the configuration is bad');
  return loaded.configuration;
}

const configuration = await read();
const [first] = configuration.deployments as [DeploymentSettings];

/** The configuration with another first deployment. */
function withFirst(change: Partial<DeploymentSettings>): Configuration {
  return { ...configuration, deployments: [{ ...first, ...change }, ...configuration.deployments.slice(1)] };
}

it('the same configuration, read again, has no changes', async () => {
  expect(changesBetween(configuration, await read())).toEqual({
    added: [],
    removed: [],
    changed: [],
    needsRestart: [],
  });
});

it('a deployment is the same by its tenant, in either letter case of a UUID, and its name', () => {
  const [, one, two] = configuration.deployments as [unknown, DeploymentSettings, DeploymentSettings];
  const after = {
    ...configuration,
    deployments: [{ ...one, name: 'three' }, two, { ...first, tenantId: 'another' }],
  };
  const { added, removed, changed } = changesBetween(configuration, after);
  expect(added.map(nameOf)).toEqual([`${TENANT_B}/three`, 'another/default']);
  expect(removed.map(nameOf)).toEqual([`${TENANT_A}/default`, `${TENANT_B}/one`]);
  expect(changed).toEqual([]);
  const spelled = changesBetween(configuration, withFirst({ tenantId: TENANT_A.toUpperCase() }));
  expect(spelled).toMatchObject({ added: [], removed: [], changed: [{ isReplace: true }] });
});

it('the order of deployments is no change', () => {
  const after = { ...configuration, deployments: configuration.deployments.toReversed() };
  expect(changesBetween(configuration, after)).toMatchObject({ added: [], removed: [], changed: [] });
});

// Every setting there is: what it is changed to, and whether that takes another process.
const SETTINGS: { readonly [K in keyof Required<DeploymentSettings>]: [DeploymentSettings[K], boolean] } = {
  tenantId: [TENANT_A.toUpperCase(), true],
  name: ['default', false],
  isDefault: [false, false],
  hosts: [['h'], false],
  deploymentId: ['d', false],
  path: ['/elsewhere', true],
  index: ['/i.json', true],
  indexHash: ['sha256:00', true],
  runtime: [{ kind: 'node', node: '/other/node' }, true],
  env: [{ A: 'c' }, true],
  envCheck: ['warn', true],
  bootTimeoutMs: [1, false],
  drainMs: [1, false],
  concurrency: [1, true],
  queue: [{ size: 1, waitMs: 1 }, false],
  restart: [{ minMs: 1, maxMs: 1, healthyMs: 1 }, false],
  idleMs: [1, false],
  start: ['eager', false],
  recycle: [{ ageMs: 1000, calls: 1, memoryBytes: 1 }, false],
};

it.each(Object.entries(SETTINGS).filter(([key]) => key !== 'name'))(
  'another %s takes another process or takes effect in place, as the table says',
  (key, [value, isReplace]) => {
    const after = withFirst({ [key]: value });
    expect(changesBetween(configuration, after)).toEqual({
      added: [],
      removed: [],
      changed: [{ settings: after.deployments[0], isReplace }],
      needsRestart: [],
    });
  },
);

it('one setting that takes another process is enough', () => {
  expect(changesBetween(configuration, withFirst({ idleMs: 1, concurrency: 1 }))).toMatchObject({
    changed: [{ isReplace: true }],
  });
});

it('what is opened at the start takes effect at the next one; tokens, memory and boots at once', () => {
  const listen = { kind: 'tcp', host: '::1', port: 1 } as const;
  const admin = { listen: { kind: 'unix', path: '/x' } } as const;
  const after = { ...configuration, listen, stateDir: '/s', admin, bodiesBytes: 1 };
  expect(changesBetween(configuration, after).needsRestart).toEqual(['listen', 'stateDir', 'admin', 'bodies']);
  const atOnce = { ...configuration, tokens: [], memoryBytes: 1, boots: 99, sources: [] };
  expect(changesBetween(configuration, atOnce).needsRestart).toEqual([]);
});
