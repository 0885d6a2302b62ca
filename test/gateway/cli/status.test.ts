import { describe, expect, it } from 'vitest';
import type { BootRecord, DeploymentStatus, InstanceStatus } from '../../../gateway/supervisor/status.ts';
import { FakeHost, statusOf } from '../admin/fakeHost.ts';
import { openAdmin } from '../admin/openAdmin.ts';
import { packgate } from './output.ts';
import type { Outcome } from './output.ts';

const MIB = 2 ** 20;
const TERMINAL = { isTty: { stdin: true, stdout: true, stderr: true } };

/** ISO time of that long ago, with half a second to spare for the test itself. */
const ago = (ms: number): string => new Date(Date.now() - ms - 500).toISOString();

function instance(name: string, other: Partial<InstanceStatus> = {}): InstanceStatus {
  return {
    name,
    state: 'ready',
    pid: 100,
    build: 'b2',
    readyAt: ago(7_260_000),
    callsInFlight: 3,
    calls: 1204,
    memoryBytes: 84.25 * MIB,
    ...other,
  };
}

function boot(name: string, other: Partial<BootRecord> = {}): BootRecord {
  return {
    instance: name,
    cause: 'call',
    at: ago(65_000),
    outcome: 'ready',
    steps: [
      { step: 'queue', ms: 2.4 },
      { step: 'index', ms: 0 },
      { step: 'launch', ms: 1 },
      { step: 'listen', ms: 61 },
      { step: 'ready', ms: 3 },
      { step: 'proof', ms: 9 },
    ],
    lastOutput: [],
    ...other,
  };
}

/** One deployment in each state, and one that has everything at once. */
const STATUSES: DeploymentStatus[] = [
  statusOf('t', 'idle'),
  statusOf('t', 'starting', {
    state: 'starting',
    next: instance('t/starting#1', { state: 'starting', pid: 77, readyAt: undefined, memoryBytes: undefined } as never),
    calls: { inFlight: 0, waiting: 12, total: 0 },
    boots: [boot('t/starting#1', { outcome: 'running', steps: [{ step: 'queue', ms: 5 }] })],
  }),
  statusOf('t', 'ready', {
    state: 'ready',
    serving: instance('t/ready#4'),
    next: instance('t/ready#5', { state: 'starting', pid: 101, build: 'b3' }),
    leaving: [
      instance('t/ready#2', { pid: 99, build: 'b1' }),
      instance('t/ready#3', { state: 'draining', pid: 98, build: 'b1' }),
    ],
    calls: { inFlight: 3, waiting: 0, total: 1204 },
    memoryBytes: 200 * MIB,
    build: 'b2',
    previousBuild: 'b1',
    isRolledBack: true,
    boots: [
      boot('t/ready#5', { outcome: 'running', cause: 'index' }),
      boot('t/ready#4', { verdict: { header: 'honoured', context: 'ignored', port: 'verified' } }),
    ],
  }),
  statusOf('t', 'cooling', {
    state: 'cooling',
    reason: { code: 'boot-failed', message: 'the service could not start\nbecause of two things', at: ago(3_000) },
    retryInMs: 12_300,
    failures: 3,
    boots: [
      boot('t/cooling#3', {
        cause: 'crash',
        outcome: 'failed',
        steps: [
          { step: 'queue', ms: 0 },
          { step: 'index', ms: 0 },
          { step: 'launch', ms: 1 },
          { step: 'listen', ms: 40 },
        ],
        failure: {
          step: 'listen',
          code: 'boot-failed',
          message: 'it says why',
          problems: ['no module "a"\n  in b.ts', 'bad c'],
        },
        exit: { kind: 'code', code: 1 },
        lastOutput: ['Traceback', 'last words'],
      }),
      boot('t/cooling#2', { outcome: 'failed', exit: { kind: 'signal', signal: 'SIGKILL' } }),
      boot('t/cooling#1', { outcome: 'cancelled', steps: [], exit: { kind: 'spawn-failed', reason: 'ENOENT' } }),
    ],
  }),
  statusOf('t', 'stopped', {
    state: 'stopped',
    reason: { code: 'stopped', message: 'an operator said so', at: ago(60_000) },
  }),
  statusOf('t', 'closed', { state: 'closed' }),
];

async function status(argument: readonly string[], io = {}, statuses = STATUSES): Promise<Outcome> {
  const { address } = await openAdmin('unix', new FakeHost().add(...statuses));
  return packgate(['status', ...argument, '--url', address], io);
}

describe('status of a gateway', () => {
  it('is a line for each deployment, with what is out of the ordinary', async () => {
    const { code, stdout, stderr } = await status([]);
    expect([code, stderr]).toEqual([0, '']);
    const [first = '', second, empty, ...table] = stdout.split('\n');
    expect(first).toMatch(/^packgate 0\.1\.0, running for \d+d \d+h on http:\/\/127\.0\.0\.1:8787, pid 4242$/);
    expect([second, empty]).toEqual(['memory 64.0 MiB, 31 descriptors, instances 96.0 MiB', '']);
    expect(table).toEqual([
      'TENANT  DEPLOYMENT  STATE     PID  CALLS  WAITING  MEMORY     UPTIME/RETRY  NOTE',
      't       idle        idle      -    0      0        -          -',
      't       starting    starting  77   0      12       -          -',
      't       ready       ready     100  3      0        200.0 MiB  2h 1m         the next one is starting; 2 leaving; rolled back',
      't       cooling     cooling   -    0      0        -          in 12 s       boot-failed: the service could not start',
      't       stopped     stopped   -    0      0        -          -             stopped: an operator said so',
      't       closed      closed    -    0      0        -          -',
      '',
    ]);
  });

  it('without deployments says that', async () => {
    expect((await status([], {}, [])).stdout).toMatch(/\n\nno deployments\n$/);
  });

  it('as JSON is what the API says', async () => {
    const { stdout } = await status(['--json']);
    const { gateway, deployments } = JSON.parse(stdout) as { gateway: unknown; deployments: DeploymentStatus[] };
    expect(gateway).toMatchObject({ pid: 4242, descriptors: 31 });
    expect(deployments.map(({ deployment, boots }) => [deployment, boots.length])).toEqual([
      ['idle', 0],
      ['starting', 1],
      ['ready', 1],
      ['cooling', 1],
      ['stopped', 0],
      ['closed', 0],
    ]);
  });

  it('has colours on a terminal, the same columns, and none where they are unwanted', async () => {
    const plain = (await status([])).stdout;
    const { stdout } = await status([], TERMINAL);
    expect(stdout).toContain('\u001b[32mready\u001b[39m');
    expect(stdout).toContain('\u001b[31mcooling\u001b[39m');
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    expect(stdout.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain);
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }] as Record<string, string>[]) {
      expect((await status([], { ...TERMINAL, env })).stdout).not.toContain('\u001b');
    }
    expect((await status(['t/ready'], { ...TERMINAL, env: { NO_COLOR: '' } })).stdout).toContain('\u001b[1mt/ready');
  });

  it('of 500 deployments is there within a second', async () => {
    const many = Array.from({ length: 500 }, (_, n) => statusOf(`tenant-${n}`, 'default', { boots: [boot('x')] }));
    const begun = performance.now();
    const { stdout } = await status([], {}, many);
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(stdout.split('\n')).toHaveLength(3 + 1 + 500 + 1);
  });
});

describe('status of one deployment', () => {
  it('that serves shows its processes, builds, proof and starts', async () => {
    const { code, stdout } = await status(['t/ready']);
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      't/ready  ready',
      '  calls     3 in flight, 0 waiting, 1204 in all',
      '  memory    200.0 MiB',
      '  build     b2 (rolled back to)',
      '  previous  b1 ("packgate rollback" serves it)',
      '  proof     it ignores the tenant of context: the gateway checks that; port verified',
      '',
      'processes:',
      '  ROLE     INSTANCE   STATE     PID  BUILD  IN FLIGHT  CALLS  MEMORY    READY FOR',
      '  serving  t/ready#4  ready     100  b2     3          1204   84.3 MiB  2h 1m',
      '  next     t/ready#5  starting  101  b3     3          1204   84.3 MiB  2h 1m',
      '  leaving  t/ready#2  ready     99   b1     3          1204   84.3 MiB  2h 1m',
      '  leaving  t/ready#3  draining  98   b1     3          1204   84.3 MiB  2h 1m',
      '',
      'last starts, newest first:',
      '  t/ready#5  running  for index  1m 6s ago  (queue 2 ms, index 0, launch 1, listen 61, ready 3, proof 9)',
      '  t/ready#4  ready  for call  1m 6s ago  (queue 2 ms, index 0, launch 1, listen 61, ready 3, proof 9)',
      '',
    ]);
  });

  it('that cools shows why, until when, and what its starts left behind', async () => {
    const { stdout } = await status(['t/cooling']);
    expect(stdout.split('\n')).toEqual([
      't/cooling  cooling',
      '  reason    boot-failed, 4 s ago: the service could not start',
      '            because of two things',
      '  next try  in 12 s',
      '  failures  3 in a row',
      '  calls     0 in flight, 0 waiting, 0 in all',
      '',
      'last starts, newest first:',
      '  t/cooling#3  failed  for crash  1m 6s ago  (queue 0 ms, index 0, launch 1, listen 40)',
      '    at listen: boot-failed: it says why',
      '    - no module "a"',
      '        in b.ts',
      '    - bad c',
      '    its process ended with exit code 1',
      '    | Traceback',
      '    | last words',
      '  t/cooling#2  failed  for call  1m 6s ago  (queue 2 ms, index 0, launch 1, listen 61, ready 3, proof 9)',
      '    its process was ended by SIGKILL',
      '  t/cooling#1  cancelled  for call  1m 6s ago  (no step begun)',
      '    its process could not be started: ENOENT',
      '',
    ]);
  });

  it.each(STATUSES.map(({ deployment }) => deployment))(
    'that is %s can be looked at, by its name alone, and as JSON',
    async (name) => {
      const { code, stdout } = await status([name]);
      expect([code, stdout.split('\n')[0]]).toEqual([0, `t/${name}  ${name}`]);
      const { stdout: json } = await status([name, '--json']);
      const whole = STATUSES.find(({ deployment }) => deployment === name);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(whole)));
    },
  );

  it('shows nothing of a pack that a terminal would act on', async () => {
    const evil = 'x\u001b[2J\u001b]0;owned\u0007\u202e\r';
    const hostile = statusOf('t', 'evil', {
      state: 'cooling',
      reason: { code: 'boot-failed', message: evil, at: ago(0) },
      build: evil,
      serving: instance(evil, { build: evil }),
      boots: [
        boot(evil, {
          failure: { step: 'listen', code: 'boot-failed', message: evil, problems: [evil] },
          exit: { kind: 'spawn-failed', reason: evil },
          lastOutput: [evil],
        }),
      ],
    });
    for (const argument of [[], ['t/evil'], ['--json'], ['t/evil', '--json']]) {
      const { stdout } = await status(argument, {}, [hostile]);
      expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(stdout).toContain(argument.includes('--json') ? '\\u001b' : '\\u{1b}');
    }
  });
});
