// What `packgate init` writes, what it leaves alone, and what it says to type next.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load } from '../../../gateway/config/load.ts';
import { temporaryFolder } from '../../support/files.ts';
import { packgate } from './output.ts';
import type { Outcome } from './output.ts';

const init = (cwd: string, ...argv: string[]): Promise<Outcome> =>
  packgate(['init', ...argv], { cwd, env: { PATH: process.env.PATH } });

/** All files below a folder, by relative path. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path), { throwIfNoEntry: false })?.isFile() === true)
    .toSorted();
}

describe('what is written', () => {
  it.each([
    ['ts', ['guardrails/polite.ts', 'kindgi.config.ts', 'tools/hello.ts'], 'node'],
    ['js', ['guardrails/polite.mjs', 'kindgi.config.mjs', 'tools/hello.mjs'], 'node'],
    ['python', ['guardrails/polite.py', 'pyproject.toml', 'tools/hello.py'], 'python'],
  ])('in %s is a pack and a configuration that is good', async (language, files, runtime) => {
    const cwd = temporaryFolder();
    const { code, stderr } = await init(cwd, 'my-pack', '--language', language);
    expect([code, stderr]).toEqual([0, '']);
    const folder = join(cwd, 'my-pack');
    const all = ['.gitignore', 'README.md', 'packgate.yaml', ...files.map((name) => `packs/my-pack/${name}`)];
    expect(filesIn(folder)).toEqual(all.toSorted());
    for (const file of filesIn(folder)) {
      expect(readFileSync(join(folder, file), 'utf8')).not.toMatch(/PACK_ID|TENANT_ID/);
    }
    const env = { PACKGATE_TOKEN: 'a-token-of-enough-characters', PATH: process.env.PATH };
    const loaded = await load('packgate.yaml', { env, cwd: folder });
    expect(loaded).toMatchObject({ configuration: { deployments: [{ runtime: { kind: runtime } }] } });
    expect(readFileSync(join(folder, 'README.md'), 'utf8').trimEnd().split('\n')).toHaveLength(6);
  });

  it('is TypeScript when nothing is said, has a tenant of its own each time, and no secret', async () => {
    const cwd = temporaryFolder();
    await init(cwd, 'a');
    await init(cwd, 'b');
    const tenantOf = (name: string): string | undefined =>
      /^ {2}([0-9a-f-]{36}):$/m.exec(readFileSync(join(cwd, name, 'packgate.yaml'), 'utf8'))?.[1];
    expect(existsSync(join(cwd, 'a/packs/a/kindgi.config.ts'))).toBe(true);
    expect(tenantOf('a')).toMatch(/^[0-9a-f]{8}-/);
    expect(tenantOf('a')).not.toBe(tenantOf('b'));
    expect(readFileSync(join(cwd, 'a/packgate.yaml'), 'utf8')).toContain('{ env: PACKGATE_TOKEN }');
  });

  it('is told as data, too', async () => {
    const cwd = temporaryFolder();
    const told = JSON.parse((await init(cwd, 'x', '--json')).stdout) as {
      folder: string;
      files: string[];
      commands: string[];
    };
    expect(told).toMatchObject({
      folder: join(cwd, 'x'),
      pack: 'x',
      tenant: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
    expect(told.files.map((file) => existsSync(file))).toEqual(told.files.map(() => true));
    expect(told.commands).toHaveLength(3);
  });

  it.each([
    ['my-pack', 'my-pack'],
    ['My Pack (2)', 'my-pack-2'],
    ['2024-crm-', 'crm'],
    ['日本', 'hello'],
  ])('in a folder called %j is called %s', async (folder, id) => {
    const cwd = temporaryFolder();
    await init(cwd, folder);
    expect(readdirSync(join(cwd, folder, 'packs'))).toEqual([id]);
  });
});

describe('what is there already', () => {
  it('is listed and left alone, and nothing is written', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'README.md'), 'mine');
    symlinkSync('/nowhere', join(cwd, 'packgate.yaml'));
    const { code, stdout, stderr } = await init(cwd, '--name', 'acme');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe('packgate: nothing was written, because these are in the way:\n  README.md\n  packgate.yaml\n');
    expect(readdirSync(cwd).toSorted()).toEqual(['README.md', 'packgate.yaml']);
    expect(readFileSync(join(cwd, 'README.md'), 'utf8')).toBe('mine');
  });

  it('is in the way as a file where a folder is needed, wherever that is', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'packs'), '');
    expect((await init(cwd)).stderr).toMatch(/in the way:\n {2}packs\n$/);
    expect((await init(cwd, 'packs/deeper')).stderr).toMatch(/in the way:\n {2}packs\n$/);
    expect(readdirSync(cwd)).toEqual(['packs']);
  });

  it('does not matter where it is something else; a .gitignore stays as it is', async () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, 'packs'));
    writeFileSync(join(cwd, '.gitignore'), 'mine');
    writeFileSync(join(cwd, 'other'), '');
    expect((await init(cwd)).code).toBe(0);
    expect(readFileSync(join(cwd, '.gitignore'), 'utf8')).toBe('mine');
    expect((await init(cwd)).code).toBe(1);
  });

  it('takes back what it wrote when it cannot write the rest', async () => {
    const cwd = temporaryFolder();
    // A folder that is there and that nobody can make anything in.
    symlinkSync('/sys', join(cwd, 'packs'));
    const { code, stderr } = await init(cwd);
    expect([code, stderr]).toEqual([1, expect.stringContaining('. cannot be written: ')]);
    expect(readdirSync(cwd)).toEqual(['packs']);
  });
});

describe('what to type next', () => {
  it.each([
    ['.', /^export PACKGATE_TOKEN=/],
    ['sub/deeper', /^cd sub\/deeper && export PACKGATE_TOKEN=/],
    ["it's here", /^cd 'it'\\''s here' && /],
    ['./-x', /^cd \.\/-x && /],
  ])('begins in %j', async (folder, first) => {
    const { stdout } = await init(temporaryFolder(), folder, '--json');
    const { commands } = JSON.parse(stdout) as { commands: string[] };
    expect(commands[0]).toMatch(first);
    expect(commands[1]).toMatch(/^node \S*\/dist\/gateway\/main\.js serve 2>packgate\.log &$/);
    expect(commands[2]).toMatch(/^node \S* invoke [a-z0-9-]+\.hello '\{"name":"you"\}' --wait 30s$/);
  });

  it('names what Python needs', async () => {
    expect((await init(temporaryFolder(), '--language', 'python')).stdout).toContain('pip install kindgi');
  });
});

it.each([
  [['--language', 'rust'], '--language is none that there is. Write one of ts, js, python.'],
  [['--language', 'constructor'], '--language is none that there is'],
  [['--name', 'A'], '--name is no id of a pack'],
  [['--name', '../x'], '--name is no id of a pack'],
  [['--name', 'a'.repeat(41)], '--name is no id of a pack'],
  [['a', 'b'], 'unexpected argument "b"'],
])('init %j is wrong usage', async (argv, message) => {
  const cwd = temporaryFolder();
  const { code, stderr } = await init(cwd, ...argv);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(readdirSync(cwd)).toEqual([]);
});
