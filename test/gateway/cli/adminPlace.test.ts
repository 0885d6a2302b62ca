import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { findGateway } from '../../../gateway/cli/adminPlace.ts';
import type { AdminPlace } from '../../../gateway/cli/adminPlace.ts';
import { temporaryFolder } from '../../support/files.ts';

interface Found extends AdminPlace {
  readonly stderr: string;
}

async function find(
  cwd: string,
  options: { url?: string; config?: string } = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Found> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const isTty = { stdin: false, stdout: false, stderr: false };
  const place = await findGateway(options, {
    cwd,
    env,
    stdout,
    stderr,
    isTty,
    onSignal: () => undefined,
    onUncaught: () => undefined,
  });
  return { ...place, stderr: String((stderr.read() as Buffer | null) ?? '') };
}

/** A folder with this configuration. */
function folderWith(yaml: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries({ 'packgate.yaml': yaml, ...files }))
    writeFileSync(join(folder, name), text);
  return folder;
}

describe('where the gateway is', () => {
  it.each([
    ['http://127.0.0.1:8788', { host: '127.0.0.1', port: 8788 }],
    ['http://[::1]:8788/', { host: '::1', port: 8788 }],
    ['http://admin.lan', { host: 'admin.lan', port: 80 }],
    ['unix:/run/a.sock', { socketPath: '/run/a.sock' }],
    ['unix:run/a.sock', { socketPath: '/cwd/run/a.sock' }],
  ])('--url %s says so, and no configuration is needed', async (url, connect) => {
    expect((await find('/cwd', { url })).connect).toEqual(connect);
  });

  it.each(['127.0.0.1:8788', 'https://a:1', 'http://', 'unix:', 'http://a:1/x', 'http://u:p@a:1', 'http://a:1?x', ''])(
    '--url %j is wrong usage',
    async (url) => {
      await expect(find('/cwd', { url })).rejects.toMatchObject({ exitCode: 2 });
    },
  );

  it.each([
    ['admin: { listen: 127.0.0.1:8788 }', 'http://127.0.0.1:8788'],
    ['admin: { listen: 0.0.0.0:8788 }', 'http://127.0.0.1:8788'],
    ['admin: { listen: "[::]:8788" }', 'http://[::1]:8788'],
    ['admin: { listen: unix:/run/a.sock }', 'unix:/run/a.sock'],
    ['admin: { listen: unix:a.sock }', 'unix:FOLDER/a.sock'],
    ['stateDir: state', 'unix:FOLDER/state/admin.sock'],
    ['{}', 'unix:FOLDER/.packgate/admin.sock'],
  ])('the configuration says it: %s', async (yaml, text) => {
    const folder = folderWith(yaml);
    expect(await find(folder)).toMatchObject({ text: text.replace('FOLDER', folder), stderr: '' });
  });

  it('paths count from the folder of the configuration', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'etc'));
    writeFileSync(join(folder, 'etc/x.yaml'), 'stateDir: ../state');
    expect((await find(folder, { config: 'etc/x.yaml' })).text).toBe(`unix:${folder}/state/admin.sock`);
  });

  it('a state folder with too long a path for a socket has its socket elsewhere', async () => {
    const folder = folderWith(`stateDir: ${'x'.repeat(100)}`);
    expect((await find(folder, {}, { TMPDIR: '/tmp/mine' })).text).toMatch(
      /^unix:\/tmp\/mine\/packgate-\d+-[0-9a-f]{16}\/admin\.sock$/,
    );
  });

  it.each(['admin: { listen: 127.0.0.1:0 }', 'admin: { listen: fd:3 }', 'admin: { listen: nonsense }'])(
    'one that does not tell asks for --url: %s',
    async (yaml) => {
      const hint = 'Say where it is with --url <url>.';
      await expect(find(folderWith(yaml))).rejects.toMatchObject({ exitCode: 78, hint });
    },
  );

  it('one that is not there says what to do', async () => {
    await expect(find(temporaryFolder())).rejects.toMatchObject({
      exitCode: 78,
      message: 'packgate.yaml cannot be read: no such file',
    });
  });

  it.each([
    ['unknown keys and a bad value', 'stateDir: state\nlisen: 5\ntenants: nobody'],
    ['secrets that this shell has not', 'stateDir: state\ntokens: [{ env: NOT_HERE }]'],
  ])('a configuration with %s is no reason not to look', async (_what, yaml) => {
    const folder = folderWith(yaml);
    expect(await find(folder)).toMatchObject({ text: `unix:${folder}/state/admin.sock`, stderr: '' });
  });

  it.each([
    ['half-written', 'stateDir: state\ntenants:\n  acme: { pack: "packs/a'],
    ['with a key twice', 'stateDir: state\nlisten: a\nlisten: b'],
  ])('nor is one that is %s, which is said', async (_what, yaml) => {
    const folder = folderWith(yaml);
    const { text, stderr } = await find(folder);
    expect(text).toBe(`unix:${folder}/state/admin.sock`);
    expect(stderr).toMatch(/^packgate: packgate\.yaml is broken .*\n$/);
  });

  it.each(['', '- a list', 'just text', '\0\0\0'])('nor one that is nothing of the kind: %j', async (yaml) => {
    const folder = folderWith(yaml);
    expect(await find(folder)).toMatchObject({
      text: `unix:${folder}/.packgate/admin.sock`,
      stderr: expect.stringContaining('is broken') as string,
    });
  });
});

describe('the token', () => {
  const URL = { url: 'http://127.0.0.1:1' };
  const YAML = 'admin: { listen: 127.0.0.1:8788, token: { env: ADMIN } }';

  it('comes from the environment, else from where the configuration says', async () => {
    const folder = folderWith(YAML, { 'file.yaml': 'admin: { token: { file: secret } }', secret: 'in-the-file\n' });
    const env = { ADMIN: 'configured' };
    expect((await find(folder, {}, env)).token).toBe('configured');
    expect((await find(folder, {}, { ...env, PACKGATE_ADMIN_TOKEN: 'given ' })).token).toBe('given');
    expect((await find(folder, {}, { ...env, PACKGATE_ADMIN_TOKEN: '' })).token).toBe('configured');
    expect((await find(folder, { config: 'file.yaml' })).token).toBe('in-the-file');
    expect((await find(folderWith('{}'))).token).toBeUndefined();
  });

  it('of a configuration that nobody named is not sent to an address that it does not name', async () => {
    const folder = folderWith(YAML);
    const env = { ADMIN: 'configured' };
    expect((await find(folder, URL, env)).token).toBeUndefined();
    expect((await find(folder, { ...URL, config: 'packgate.yaml' }, env)).token).toBe('configured');
    expect((await find(folder, URL, { PACKGATE_ADMIN_TOKEN: 'given' })).token).toBe('given');
  });

  it('that cannot be read is told, not guessed', async () => {
    const folder = folderWith('admin: { token: { file: nowhere } }');
    await expect(find(folder)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('no such file') as string,
    });
  });
});
