import { describe, expect, it } from 'vitest';
import type { DeploymentSettings, RuntimeSettings } from '../../../gateway/config/configuration.ts';
import { runtimeOf } from '../../../gateway/runtimes/index.ts';
import type { LaunchSpec } from '../../../gateway/runtimes/launchSpec.ts';

const NODE: RuntimeSettings = { kind: 'node', node: '/usr/bin/node' };
const PYTHON: RuntimeSettings = { kind: 'python', python: 'python3' };
const COMMAND: RuntimeSettings = { kind: 'command', command: ['/bin/serve', '--flag', 'x'] };

const CONTEXT = {
  childProgram: '/app/child.js',
  hostEnv: { PATH: '/bin', TZ: 'Europe/Berlin', TMPDIR: '/var/tmp' },
  buildDir: '/state/build',
};

const settings = (runtime: RuntimeSettings, env: Record<string, string> = {}): DeploymentSettings => ({
  tenantId: 'ACME',
  name: 'default',
  isDefault: true,
  hosts: [],
  path: '/packs/a',
  runtime,
  env,
  envCheck: 'warn',
  bootTimeoutMs: 1,
  drainMs: 1,
  concurrency: 32,
  queue: { size: 1, waitMs: 1 },
  restart: { minMs: 1, maxMs: 1, healthyMs: 1 },
  start: 'lazy',
  recycle: { ageMs: Infinity, calls: Infinity, memoryBytes: Infinity },
  idleMs: 1,
});

const launch = (
  runtime: RuntimeSettings,
  env?: Record<string, string>,
  hostEnv: object = CONTEXT.hostEnv,
): LaunchSpec =>
  runtimeOf(runtime).launch(settings(runtime, env), {
    ...CONTEXT,
    hostEnv,
    token: 't0ken',
    indexPath: '/state/index.json',
  });

const index = (runtime: RuntimeSettings, env?: Record<string, string>): LaunchSpec | undefined =>
  runtimeOf(runtime).index(settings(runtime, env), { ...CONTEXT, outputPath: '/state/index.json' });

const SERVICE_ARGS = ['--index', '/state/index.json', '--module-root', '/packs/a', '--host', '127.0.0.1'];
const BASE_ENV = { PATH: '/bin', HOME: '/packs/a', LANG: 'C.UTF-8', TZ: 'Europe/Berlin', TMPDIR: '/var/tmp' };
const SERVICE_ENV = {
  ...BASE_ENV,
  KINDGI_PACK_SERVICE_TOKEN: 't0ken',
  KINDGI_PACK_TENANT_ID: 'ACME',
  KINDGI_PACK_SERVICE_MAX_CONCURRENCY: '64',
  KINDGI_PACK_ENV_CHECK: 'warn',
  PORT: '0',
  KINDGI_LOG_FORMAT: 'json',
};
const PYTHON_ENV = { PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' };
const NODE_ENV = { PACKGATE_BUILD_DIR: '/state/build' };

describe('the launch of a service', () => {
  it.each<[RuntimeSettings, LaunchSpec]>([
    [
      NODE,
      {
        command: '/usr/bin/node',
        args: ['/app/child.js', 'serve', ...SERVICE_ARGS],
        cwd: '/packs/a',
        env: { ...SERVICE_ENV, ...NODE_ENV },
      },
    ],
    [
      PYTHON,
      {
        command: 'python3',
        args: ['-m', 'kindgi.pack', 'serve', ...SERVICE_ARGS],
        cwd: '/packs/a',
        env: { ...SERVICE_ENV, ...PYTHON_ENV },
      },
    ],
    [COMMAND, { command: '/bin/serve', args: ['--flag', 'x', ...SERVICE_ARGS], cwd: '/packs/a', env: SERVICE_ENV }],
  ])('of %j has exactly these arguments and this environment', (runtime, spec) => {
    expect(launch(runtime)).toEqual(spec);
  });

  it.each([NODE, PYTHON, COMMAND])(
    "of $kind has the pack's own environment, which may replace what the host gave",
    (runtime) => {
      const { env } = launch(runtime, { KEY: 'x', HOME: '/tmp', PATH: '/opt/bin' });
      expect(env).toMatchObject({ KEY: 'x', HOME: '/tmp', PATH: '/opt/bin', KINDGI_PACK_SERVICE_TOKEN: 't0ken' });
    },
  );

  it('takes nothing from a host that has nothing, and gives it a PATH all the same', () => {
    const { env } = launch(COMMAND, {}, {});
    expect(Object.keys(env).toSorted()).toEqual(
      Object.keys(SERVICE_ENV)
        .filter((name) => name !== 'TZ' && name !== 'TMPDIR')
        .toSorted(),
    );
    expect(env.PATH).toBe('/usr/local/bin:/usr/bin:/bin');
  });
});

describe('the launch of an indexer', () => {
  const args = ['index', '--pack-dir', '/packs/a', '--output', '/state/index.json', '--json'];

  it('is that of the pack, with its environment and without the contract of a service', () => {
    expect(index(NODE, { KEY: 'x' })).toEqual({
      command: '/usr/bin/node',
      args: ['/app/child.js', ...args],
      cwd: '/packs/a',
      env: { ...BASE_ENV, ...NODE_ENV, KEY: 'x' },
    });
    expect(index(PYTHON, { KEY: 'x' })).toEqual({
      command: 'python3',
      args: ['-m', 'kindgi.pack', ...args],
      cwd: '/packs/a',
      env: { ...BASE_ENV, ...PYTHON_ENV, KEY: 'x' },
    });
  });

  it('is none for a command', () => {
    expect(index(COMMAND)).toBeUndefined();
  });
});

it.each([
  [NODE, 1000, true],
  [PYTHON, 3000, false],
  [COMMAND, 3000, false],
] as const)(
  'C34: %j gives its services time to end, and shares connections or not',
  (runtime, drainMarginMs, keepsConnections) => {
    expect(runtimeOf(runtime)).toMatchObject({ drainMarginMs, keepsConnections });
  },
);
