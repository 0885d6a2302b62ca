import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOST_ENV, makeFolder, TENANT_A, TENANT_B, TOKEN, withTenant } from '../config/folder.ts';
import { packgate } from './output.ts';
import type { Outcome } from './output.ts';

const OPERATOR = `${TOKEN}-of-operators`;

const GOOD = `listen: "[::1]:8787"
admin: { listen: 127.0.0.1:8788, token: { env: OPERATOR } }
memory: 1.5GiB
boots: 3
tokens:
  - { env: TOKEN }
  - { env: OTHER_TOKEN, tenants: [${TENANT_B}], deployment: crm }
tenants:
  ${TENANT_A}: { pack: packs/a, env: { KEY: s3cret }, start: eager, recycle: { age: 90m, memory: 512MiB } }
  ${TENANT_B}:
    packs:
      billing: { path: packs/b, default: true, idle: never, recycle: { calls: 1000 } }
      crm: { path: packs/a, hosts: [Crm.example.com], deploymentId: dep-0001, command: [sh, -c, s3cret], index: i.json }
`;

async function check(yaml: string, ...options: string[]): Promise<Outcome & { cwd: string }> {
  const cwd = makeFolder({ 'packgate.yaml': yaml, 'i.json': '{"v":1}' });
  return { ...(await packgate(['check', ...options], { cwd, env: { ...HOST_ENV, OPERATOR } })), cwd };
}

describe('check of a good configuration', () => {
  it('prints what would run', async () => {
    const { code, stdout, stderr } = await check(GOOD);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.split('\n')).toEqual([
      'listen    [::1]:8787',
      'admin     127.0.0.1:8788 (with a token)',
      'stateDir  .packgate',
      'memory    1536MiB',
      'boots     3 at once',
      '',
      'tenant                                deployment         runtime  pack     index           start  recycle        hosts',
      `${TENANT_A}  default            node     packs/a  built at start  eager  5400s, 512MiB  -`,
      `${TENANT_B}  billing (default)  node     packs/b  built at start  lazy   1000 calls     -`,
      `${TENANT_B}  crm                command  packs/a  i.json          lazy   -              crm.example.com, kp-amnsmhic4dlxlwgiotkl{-,.}*`,
      '',
      'token  opens',
      '1      any tenant',
      `2      ${TENANT_B}, only deployment crm`,
      '',
    ]);
  });

  it('prints it as JSON, without any value of an environment or a token', async () => {
    const { code, stdout, stderr, cwd } = await check(GOOD, '--json');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      file: join(cwd, 'packgate.yaml'),
      listen: '[::1]:8787',
      admin: { listen: '127.0.0.1:8788', token: true },
      memoryBytes: 1.5 * 2 ** 30,
      boots: 3,
      tokens: [
        { tenants: 'any', deployment: null },
        { tenants: [TENANT_B], deployment: 'crm' },
      ],
      deployments: [
        {
          tenant: TENANT_A,
          deployment: 'default',
          runtime: 'node',
          index: null,
          env: ['KEY'],
          idleMs: 900_000,
          start: 'eager',
        },
        {
          deployment: 'billing',
          default: true,
          serviceName: null,
          idleMs: null,
          indexHash: null,
          recycle: { ageMs: null, calls: 1000, memoryBytes: null },
        },
        { deployment: 'crm', hosts: ['crm.example.com'], serviceName: 'kp-amnsmhic4dlxlwgiotkl', command: 'sh' },
      ],
      warnings: [],
    });
    for (const secret of ['s3cret', TOKEN, createHash('sha256').update(OPERATOR).digest('hex')])
      expect(stdout).not.toContain(secret);
  });

  it('says where operators find it, and that there is no budget, where nothing is said of either', async () => {
    const { stdout } = await check(withTenant());
    expect(stdout).toMatch(/^admin {5}unix:\.packgate\/admin\.sock \(its owner alone\)$/m);
    expect(stdout).toMatch(/^memory {4}no budget$/m);
    const { stdout: json } = await check(withTenant(), '--json');
    expect(JSON.parse(json)).toMatchObject({ memoryBytes: null, admin: { token: false } });
  });

  it('shows warnings beside it, as messages or as data', async () => {
    const yaml = withTenant('drain: 20s');
    const text = await check(yaml);
    expect([text.code, text.stdout.includes(TENANT_A)]).toEqual([0, true]);
    expect(text.stderr).toMatch(/^packgate\.yaml:5:5: .*drain: warning: .*\n$/);
    const { stdout, stderr } = await check(yaml, '--json');
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({
      warnings: [{ file: 'packgate.yaml', position: { line: 5, column: 5 } }],
    });
  });
});

describe('check of a bad configuration', () => {
  it('shows every problem on stderr and nothing on stdout, exit code 78', async () => {
    const { code, stdout, stderr } = await check(withTenant('idle: 5', 'drain: 5'));
    expect([code, stdout]).toEqual([78, '']);
    expect(stderr.trimEnd().split('\n')).toHaveLength(2);
    expect(stderr).toMatch(/^packgate\.yaml:5:11: .*\npackgate\.yaml:6:12: .*\n$/);
  });

  it('shows them as data where JSON is asked for', async () => {
    const { code, stdout, stderr } = await check(withTenant('idle: 5'), '--json');
    expect([code, stderr]).toEqual([78, '']);
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      problems: [
        {
          file: 'packgate.yaml',
          position: { line: 5, column: 11 },
          path: `tenants.${TENANT_A}.idle`,
          expected: 'a duration with its unit, such as "90s" or "15m", or "never"',
          got: 'the number 5',
        },
      ],
      warnings: [],
    });
  });

  it('that is not there says so', async () => {
    expect(await packgate(['check', '-c', 'none.yaml'], { cwd: makeFolder() })).toEqual({
      code: 78,
      stdout: '',
      stderr: 'none.yaml: expected a configuration file, got no such file. Name another with -c <file>\n',
    });
  });
});
