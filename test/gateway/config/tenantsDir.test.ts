import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load } from '../../../gateway/config/load.ts';
import { problemText } from '../../../gateway/config/problem.ts';
import { configurationOf, HOST_ENV, makeFolder, problemsOf, TENANT_A, TENANT_B, warningsOf } from './folder.ts';

const MAIN = 'tenantsDir: tenants.d\ntokens: [{ env: TOKEN }]\n';
const PACK = 'pack: ../packs/a\n';
const INDEX = JSON.stringify({ v: 1 });

/** Files of `tenants.d`, by name. */
function inFolder(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`tenants.d/${name}`, text]));
}

describe('tenantsDir', () => {
  it('adds a tenant for each of its files, after those of the configuration, by name', async () => {
    const { deployments } = await configurationOf(
      `${MAIN}tenants: { zoe: { pack: packs/a } }`,
      inFolder({ [`${TENANT_A}.yaml`]: PACK, 'b.yml': PACK, 'a.b.json': JSON.stringify({ pack: '../packs/b' }) }),
    );
    expect(deployments.map(({ tenantId, path }) => [tenantId, path.slice(-7)])).toEqual([
      ['zoe', 'packs/a'],
      [TENANT_A, 'packs/a'],
      ['a.b', 'packs/b'],
      ['b', 'packs/a'],
    ]);
  });

  it('may be all there is, and may be empty: a gateway without tenants yet', async () => {
    expect((await configurationOf(MAIN, inFolder({ 'a.yaml': PACK }))).deployments).toHaveLength(1);
    for (const tenants of ['', 'tenants: {}']) {
      expect((await configurationOf(MAIN + tenants, inFolder({ '.keep': '' }))).deployments).toEqual([]);
    }
  });

  it('has paths that count from it, and inherits those of defaults, which count from the configuration', async () => {
    const cwd = makeFolder({
      'packgate.yaml': `tenantsDir: etc/tenants.d
tokens: [{ env: TOKEN }]
defaults: { path: packs/a, index: i.json, envFiles: [all.env], node: ./run }`,
      'i.json': INDEX,
      'all.env': 'A=1',
      run: '',
      'etc/tenants.d/inherits.yaml': '{}',
      'etc/tenants.d/own.yaml': `pack: own
index: own/j.json
envFiles: [own.env]
env: { C: { file: own/c.txt } }
node: own/go`,
      'etc/tenants.d/own.env': 'B=2',
      'etc/tenants.d/own/kindgi.config.mjs': '',
      'etc/tenants.d/own/j.json': INDEX,
      'etc/tenants.d/own/c.txt': '3',
      'etc/tenants.d/own/go': '',
    });
    for (const name of ['run', 'etc/tenants.d/own/go']) chmodSync(join(cwd, name), 0o755);
    const loaded = await load('packgate.yaml', { env: HOST_ENV, cwd });
    if ('problems' in loaded) throw new Error(loaded.problems.map(problemText).join('\n'));
    expect(
      loaded.configuration.deployments.map(({ path, index, runtime, env }) => ({ path, index, runtime, ...env })),
    ).toEqual([
      {
        path: join(cwd, 'packs/a'),
        index: join(cwd, 'i.json'),
        runtime: { kind: 'node', node: join(cwd, 'run') },
        A: '1',
      },
      {
        path: join(cwd, 'etc/tenants.d/own'),
        index: join(cwd, 'etc/tenants.d/own/j.json'),
        runtime: { kind: 'node', node: join(cwd, 'etc/tenants.d/own/go') },
        A: '1',
        B: '2',
        C: '3',
      },
    ]);
    // The file in it that ends in .env is no tenant, and folders in it are nobody's business.
    expect(loaded.warnings.filter(({ path }) => path === 'tenantsDir').map(({ text }) => text)).toEqual([
      `"own.env" in it is not read: tenants' files end in .yaml, .yml or .json`,
    ]);
  });

  it('has problems that name the file and its lines, beside those of the configuration', async () => {
    const problems = await problemsOf(
      `${MAIN}idle: 5m\ntenants: { zoe: { pack: packs/a, hosts: [h.example] } }`,
      inFolder({
        'a.yaml': `${PACK}idle: 5\nenv: { K: { env: NONE } }`,
        'b.yaml': `${PACK}hosts: [H.example]\ncolour: red`,
        'c.yaml': 'pack: [',
        'd.yaml': '',
        'e.yaml': 'packs: { one: { path: ../packs/a }, two: { path: ../packs/b } }',
        'f.yaml': 'pack: none\npack: none',
      }),
    );
    expect(problems.map((problem) => problem.replace(/ Known here: .*/, ''))).toEqual([
      'packgate.yaml:3:1: idle: expected a known key, got "idle". It belongs in "defaults", in a tenant or in a pack',
      'tenants.d/a.yaml:2:7: idle: expected a duration with its unit, such as "90s" or "15m", or "never", got the number 5',
      'tenants.d/a.yaml:3:18: env.K.env: expected a variable that is set where the gateway runs, got NONE, which is not. Set it (an empty value counts)',
      'tenants.d/b.yaml:2:9: hosts[0]: expected a host of its own, got h.example, which tenants.zoe has, too',
      'tenants.d/b.yaml:3:1: colour: expected a known key, got "colour".',
      'tenants.d/c.yaml:1:8: expected indentation that fits the lines above, got another, or a bracket that is not closed',
      'tenants.d/d.yaml:1:1: expected a mapping with pack or packs, got nothing',
      'tenants.d/e.yaml:1:1: packs: expected exactly one default among several packs, got none. Write "default: true" in the one that gets the calls that nothing else leads elsewhere',
      'tenants.d/f.yaml:1:7: pack: expected the path of the pack\'s folder, got "none", which does not exist',
      'tenants.d/f.yaml:2:1: expected every key once, got one a second time',
    ]);
  });

  it('and the configuration have every tenant once', async () => {
    const twice = (where: string): RegExp =>
      new RegExp(`expected every tenant once, got .*, which is in ${where} as well`);
    const both = await problemsOf(`${MAIN}tenants: { a: { pack: packs/a } }`, inFolder({ 'a.yaml': 'not looked at' }));
    expect(both).toEqual([expect.stringMatching(/^tenants\.d\/a\.yaml: /)]);
    expect(both[0]).toMatch(twice('"tenants"'));
    const files = await problemsOf(MAIN, inFolder({ 'a.yaml': PACK, 'a.json': '{ "pack": "../packs/a" }' }));
    expect(files).toEqual([expect.stringMatching(/^tenants\.d\/a\.yaml: /)]);
    expect(files[0]).toMatch(twice('tenants\\.d/a\\.json'));
    const cases = await problemsOf(
      `${MAIN}tenants: { ${TENANT_A}: { pack: packs/a } }`,
      inFolder({ [`${TENANT_A.toUpperCase()}.yaml`]: PACK }),
    );
    expect(cases).toHaveLength(1);
    expect(cases[0]).toMatch(twice('"tenants"'));
    // An id that is no UUID is another one in other letter case.
    expect(await problemsOf(MAIN, inFolder({ 'a.yaml': PACK, 'A.yaml': PACK }))).toEqual([]);
  });

  it.each(['.a.yaml', '.a.yaml.swp', 'a.yaml~', '#a.yaml#', 'a.yaml.bak', 'a.yaml.tmp', 'a.yaml.dpkg-old', '..data'])(
    'passes over %s, which an editor or a tool left there',
    async (name) => {
      expect(await warningsOf(MAIN, inFolder({ 'x.yaml': PACK, [name]: 'x' }))).toEqual(
        await warningsOf(MAIN, inFolder({ 'x.yaml': PACK })),
      );
    },
  );

  it('warns of other files, which it does not read', async () => {
    const warnings = await warningsOf(MAIN, inFolder({ [`${TENANT_B}.yaml`]: PACK, 'README.md': 'x', noend: 'x' }));
    expect(warnings).toEqual([
      `packgate.yaml:1:1: tenantsDir: warning: "README.md" in it is not read: tenants' files end in .yaml, .yml or .json`,
      `packgate.yaml:1:1: tenantsDir: warning: "noend" in it is not read: tenants' files end in .yaml, .yml or .json`,
    ]);
  });

  it.each(['a b.yaml', 'a@b.yaml', `${'a'.repeat(129)}.yaml`, 'ä.json'])(
    'has no tenants with a name such as that of %s',
    async (name) => {
      const [problem, ...others] = await problemsOf(MAIN, inFolder({ [name]: PACK }));
      expect(problem).toContain(`tenants.d/${name}: expected a tenant's id as its name: 1 to 128 letters`);
      expect(others).toEqual([]);
    },
  );

  it('may have tenants whose names mean something elsewhere', async () => {
    const names = ['__proto__', 'constructor', 'toString'];
    const { deployments } = await configurationOf(
      MAIN,
      inFolder(Object.fromEntries(names.map((name) => [`${name}.yaml`, PACK]))),
    );
    expect(deployments.map(({ tenantId }) => tenantId)).toEqual(names.toSorted());
  });

  it('that is missing, or no folder, is a problem, and so is a file in it that cannot be read', async () => {
    expect(await problemsOf(MAIN)).toEqual([
      'packgate.yaml:1:13: tenantsDir: expected the path of a folder, got one that does not exist',
    ]);
    expect(await problemsOf(MAIN, { 'tenants.d': '' })).toEqual([
      'packgate.yaml:1:13: tenantsDir: expected the path of a folder, got a file',
    ]);
    expect(await problemsOf(MAIN, inFolder({ 'a.yaml/x': '' }))).toEqual([
      "tenants.d/a.yaml: expected a tenant's file that can be read, got a folder",
    ]);
  });

  it('takes and gives tenants: a token that names one that is not there is warned of', async () => {
    const main = `tenantsDir: tenants.d\ntokens: [{ env: TOKEN, tenants: [a, b] }]\n`;
    const warnings = await warningsOf(main, inFolder({ 'a.yaml': PACK }));
    expect(warnings[0]).toBe('packgate.yaml:2:37: tokens[0].tenants[1]: warning: there is no tenant "b" yet');
  });
});

it('without tenantsDir there must be a tenant', async () => {
  for (const [tenants, at, got] of [
    ['', '1:1', 'nothing'],
    ['tenants: {}', '2:10', 'an empty mapping'],
  ] as const) {
    expect(await problemsOf(`tokens: [{ env: TOKEN }]\n${tenants}`)).toEqual([
      `packgate.yaml:${at}: tenants: expected a mapping with at least one tenant, got ${got}`,
    ]);
  }
});
