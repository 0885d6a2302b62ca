// What `packgate invoke` sends, where to, and what it refuses to send.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../support/files.ts';
import { packgate } from '../output.ts';
import { fakeGateway, result, TENANT, TOKEN } from './fakeGateway.ts';

const OTHER = '8d1c6c0e-0d3f-4c52-9c52-6a1f8f6f2b10';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe('the message', () => {
  it('is a call as a runtime sends it, its ids the same in header and context', async () => {
    const gateway = await fakeGateway(result(1));
    await gateway.invoke(['acme.echo', '{"message":"hi"}', '--timeout', '5s', '--tool-version', '1.2.3']);
    const { headers } = gateway.seen[0] ?? {};
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'kindgi-pack-token': TOKEN,
      'kindgi-tenant-id': TENANT,
      'kindgi-timeout-ms': '5000',
      'kindgi-protocol': '2',
      'kindgi-request-id': expect.stringMatching(UUID) as string,
    });
    expect(gateway.message()).toEqual({
      v: 2,
      kind: 'invoke',
      tool: { id: 'acme.echo', version: '1.2.3' },
      input: { message: 'hi' },
      ctx: { tenantId: TENANT, runId: headers?.['kindgi-run-id'], requestId: headers?.['kindgi-request-id'] },
    });
  });

  it('has an empty input and two minutes when nothing is said', async () => {
    const gateway = await fakeGateway(result(1));
    await gateway.invoke(['t']);
    expect(gateway.message()).toMatchObject({ tool: { id: 't' }, input: {} });
    expect(gateway.seen[0]?.headers['kindgi-timeout-ms']).toBe('120000');
  });

  it.each(['12345678901234567890', '{"a":1.0, "a":2}', '"\\ud800"', '{"__proto__":{"x":1}}', 'null'])(
    'carries the input as it was written: %s',
    async (input) => {
      const gateway = await fakeGateway(result(1));
      expect((await gateway.invoke(['t', input])).code).toBe(0);
      expect(gateway.seen[0]?.body).toContain(`"input":${input},`);
    },
  );

  it('takes any id of a tool, and quotes it', async () => {
    const gateway = await fakeGateway(result(1));
    const id = '"},"x":{"\n\u001b[2J';
    await gateway.invoke([id]);
    expect(gateway.message()).toMatchObject({ tool: { id } });
    expect(gateway.message()).not.toHaveProperty('x');
  });

  it('takes its input from a file and from standard input', async () => {
    const gateway = await fakeGateway(result(1));
    const cwd = folderWith({ 'in.json': '{"from":"file"}\n' });
    await gateway.invoke(['t', '@in.json'], { cwd });
    expect(gateway.message()).toMatchObject({ input: { from: 'file' } });
    // Cut inside a character.
    const pieces = [Buffer.from('{"from":"\xc3', 'latin1'), Buffer.from('\xbc"}', 'latin1')];
    await gateway.invoke(['t', '-'], { stdin: () => Readable.from(pieces) });
    expect(gateway.message()).toMatchObject({ input: { from: 'ü' } });
  });

  it('has in its context what was given, one by one over the file', async () => {
    const gateway = await fakeGateway(result(1));
    const cwd = folderWith({
      'ctx.json': JSON.stringify({ runId: 'r-1', requestId: 'q-1', projectId: 'p', env: { A: '1', B: '2' } }),
      key: 's3cret\n',
      'mail.json': '{"accessToken":"t0ken","app":"gmail"}',
    });
    const { stdout, stderr, code } = await gateway.invoke(
      [
        't',
        '--ctx',
        '@ctx.json',
        '--env',
        'B=x=y',
        '--env',
        '__proto__=z',
        '--secret',
        'one=env:SECRET',
        '--secret',
        'two=@key',
        '--secret',
        'three=text:plain',
        '--connection',
        'mail=@mail.json',
      ],
      { cwd, env: { SECRET: 'from-env' } },
    );
    expect(code).toBe(0);
    const ctx = gateway.message().ctx as unknown as Record<string, unknown>;
    expect(ctx).toMatchObject({ tenantId: TENANT, runId: 'r-1', requestId: 'q-1', projectId: 'p' });
    expect(Object.entries(ctx.env as object)).toEqual([
      ['A', '1'],
      ['B', 'x=y'],
      ['__proto__', 'z'],
    ]);
    expect(ctx.secrets).toEqual({ one: 'from-env', two: 's3cret', three: 'plain' });
    expect(ctx.connections).toEqual({
      mail: {
        connectionId: 'mail',
        app: 'gmail',
        appName: 'mail',
        account: { id: 'mail', label: 'mail' },
        accessToken: 't0ken',
      },
    });
    expect(gateway.seen[0]?.headers).toMatchObject({ 'kindgi-run-id': 'r-1', 'kindgi-request-id': 'q-1' });
    expect(stdout + stderr).not.toMatch(/from-env|s3cret|t0ken/);
  });

  it.each([
    ['header', OTHER, TENANT],
    ['context', TENANT, OTHER],
    ['both', OTHER, OTHER],
    [undefined, OTHER, OTHER],
  ])('names another tenant in %s', async (as, header, context) => {
    const gateway = await fakeGateway(result(1));
    await gateway.invoke(['t', '--as-tenant', OTHER, ...(as === undefined ? [] : ['--as', as])]);
    expect(gateway.seen[0]?.headers['kindgi-tenant-id']).toBe(header);
    expect(gateway.message()).toMatchObject({ ctx: { tenantId: context } });
  });

  it('of a check has its configuration, and another tenant in the header alone', async () => {
    const gateway = await fakeGateway(result(1));
    await gateway.invoke(['--check', 'c', '--check-config', '{"word":"x"}', '--as-tenant', OTHER]);
    expect(gateway.message()).toMatchObject({ check: { id: 'c' }, config: { word: 'x' }, trace: {} });
    expect(gateway.seen[0]?.headers['kindgi-tenant-id']).toBe(OTHER);
  });
});

describe('wrong usage sends nothing and is 2', () => {
  it.each<[string[], string]>([
    [[], '<tool> is missing'],
    [['t', '{nope'], 'the input is not JSON. It goes wrong in line 1 at character 2.'],
    [['t', '{"a":\n 1,\n x}'], 'the input is not JSON. It goes wrong in line 3 at character 2.'],
    [['t', '{"a"'], 'the input is not JSON. It ends too early.'],
    [['t', 'hello'], 'the input is not JSON. Write it as JSON in quotes'],
    [['t', '@nowhere.json'], 'the input cannot be read: no such file'],
    [['t', '@/'], 'the input cannot be read: a folder'],
    [['t', '-'], 'the input is not JSON. It is empty.'],
    [['t', '-', '--ctx', '-'], 'standard input is asked for twice'],
    [['t', '--ctx', '[]'], '--ctx is no JSON object'],
    [['t', '--timeout', '5'], '--timeout is no duration'],
    [['t', '--timeout', '0s'], '--timeout is no duration'],
    [['t', '--wait', 'x'], '--wait is no duration'],
    [['t', '--as', 'header'], '--as says where, and --as-tenant is missing'],
    [['t', '--as-tenant', 'x', '--as', 'nose'], '--as is none of its places'],
    [['t', '--as-tenant', 'x\ny'], '--as-tenant cannot be sent'],
    [['t', '--host', 'a b'], '--host is no name of a host'],
    [['--check', 'c', '--as-tenant', 'x', '--as', 'both'], 'the message of a check has no context'],
    [['--check', 'c', '--env', 'A=1'], '--env is for tools'],
    [['--check', 'c', '{}', '{}'], '--check takes one argument'],
    [['t', '--check-config', '{}'], '--check-config is for a check'],
    [['t', '--env', 'A'], '--env needs a name and a value. Write --env NAME=text.'],
    [['t', '--env', '=x'], '--env needs a name and a value'],
    [['t', '--secret', 'key=hunter2'], '--secret key does not say where its value is'],
    [['t', '--secret', 'key=env:NOPE'], '--secret key: there is no variable NOPE'],
    [['t', '--secret', 'key=@nope'], 'the file of --secret key cannot be read: no such file'],
    [['t', '--connection', 'mail={}'], '--connection mail is no file'],
    [['t', '--dry-run'], '--dry-run is for --sample'],
    [['t', '{}', '--sample'], '--sample makes an input, and one is given'],
    [['t', '--token-file', 'nope'], "the token's file cannot be read: no such file"],
    [['t', '--token-env', 'NOPE'], 'there is no token to call with'],
    [['t', '--token-env', 'BAD'], 'the token has blanks or other characters'],
    [['t', '--token-env', 'A', '--token-file', 'b'], '--token-env and --token-file are two tokens'],
  ])('%j', async (argv, message) => {
    const gateway = await fakeGateway(result(1));
    const io = { cwd: temporaryFolder(), env: { BAD: 'two words of a token' } };
    const { code, stdout, stderr } = await gateway.invoke(argv, io);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`packgate: ${message}`);
    expect(stderr).not.toMatch(/hunter2|two words/);
    expect(gateway.seen).toEqual([]);
  });

  it.each(['ftp://x', 'http://u:p@x', 'http://x/path', 'http://x?q', 'unix:', 'x', 'http://[::1'])(
    'an address like %s',
    async (url) => {
      expect(
        await packgate(['invoke', 't', '--url', url, '--tenant', TENANT], { env: { PACKGATE_TOKEN: TOKEN } }),
      ).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--url is no address') as string,
      });
    },
  );
});

describe('where a call goes', () => {
  const call = (cwd: string, argv: string[] = []): ReturnType<typeof packgate> =>
    packgate(['invoke', 't', ...argv], { cwd, env: { PACKGATE_TOKEN: TOKEN } });

  it('is what packgate.yaml here says, leniently, with its only tenant', async () => {
    const gateway = await fakeGateway(result(1));
    const listen = new URL(gateway.url).host;
    const cwd = folderWith({
      'packgate.yaml': `listen: ${listen}\nnonsense: [\n  1 ]\ntenants: { ${TENANT}: { pack: nowhere } }`,
    });
    expect((await call(cwd)).code).toBe(0);
    expect(gateway.seen[0]?.headers).toMatchObject({ 'kindgi-tenant-id': TENANT, host: listen });
  });

  it('is a Unix socket of it, or of --url; relative to the file and to the folder', async () => {
    const cwd = folderWith({ 'etc/x.yaml': `listen: unix:../run.sock\ntenants: { t1: { pack: p } }` });
    const gateway = await fakeGateway(result(1), join(cwd, 'run.sock'));
    expect((await call(cwd, ['-c', 'etc/x.yaml'])).code).toBe(0);
    expect((await call(cwd, ['--url', 'unix:run.sock', '--tenant', 't2'])).code).toBe(0);
    expect(gateway.seen.map(({ headers }) => headers['kindgi-tenant-id'])).toEqual(['t1', 't2']);
  });

  it('is told apart by --host, and the tenant by tenantsDir', async () => {
    const cwd = folderWith({
      'packgate.yaml': 'listen: unix:run.sock\ntenantsDir: tenants.d',
      'tenants.d/t3.yaml': 'pack: ../p',
      'tenants.d/.hidden.yaml': '',
      'tenants.d/README': '',
    });
    const gateway = await fakeGateway(result(1), join(cwd, 'run.sock'));
    expect((await call(cwd, ['--host', 'crm.example.com'])).code).toBe(0);
    expect(gateway.seen[0]?.headers).toMatchObject({ 'kindgi-tenant-id': 't3', host: 'crm.example.com' });
  });

  it('of several tenants needs one, and names those there are', async () => {
    const cwd = folderWith({
      'packgate.yaml': 'listen: unix:x.sock\ntenants: { a: { pack: p }, "b\u001b": { pack: p } }',
    });
    const { code, stderr } = await call(cwd);
    expect([code, stderr]).toEqual([
      2,
      'packgate: packgate.yaml has 2 tenants. Name one with --tenant: a, b\\u{1b}.\n',
    ]);
  });

  it('a 421 to a tenant that the configuration does not have says so', async () => {
    const cwd = folderWith({ 'packgate.yaml': 'listen: unix:run.sock\ntenants: { acme-corp: { pack: p } }' });
    await fakeGateway(
      (res) => void res.writeHead(421).end('{"error":"x","code":"pack-tenant-mismatch"}'),
      join(cwd, 'run.sock'),
    );
    const { code, stderr } = await call(cwd, ['--tenant', 'acme-crop']);
    expect(code).toBe(4);
    expect(stderr).toMatch(/\npackgate\.yaml has no tenant acme-crop\. Did you mean acme-corp\?\n$/);
  });

  it.each([
    ['{ [', 'packgate.yaml is broken'],
    ['listen: nonsense at all\ntenants: { a: { pack: p } }', 'listen "nonsense at all" is no address'],
    ['listen: fd:3\ntenants: { a: { pack: p } }', 'listen "fd:3" does not tell where the gateway is'],
    ['listen: 127.0.0.1:0\ntenants: { a: { pack: p } }', 'does not tell where the gateway is'],
  ])('is unknown with %j: 78', async (yaml, message) => {
    const { code, stderr } = await call(folderWith({ 'packgate.yaml': yaml }));
    expect([code, stderr]).toEqual([78, expect.stringContaining(message)]);
  });

  it('needs a file that is named, and none that nobody needs', async () => {
    expect(await call(folderWith({}), ['-c', 'nope.yaml'])).toMatchObject({ code: 78 });
    expect(await call(folderWith({}))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--tenant') as string,
    });
    const gateway = await fakeGateway(result(1));
    const cwd = folderWith({ 'packgate.yaml': '{ [' });
    expect((await call(cwd, ['--url', gateway.url, '--tenant', 'x'])).code).toBe(0);
  });

  it('the token comes from a file or a variable that is named', async () => {
    const gateway = await fakeGateway(result(1));
    const io = { cwd: folderWith({ token: 'in-the-file\n' }), env: { MINE: ' in-the-variable ' } };
    await gateway.invoke(['t', '--token-file', 'token'], io);
    await gateway.invoke(['t', '--token-env', 'MINE'], io);
    expect(gateway.seen.map(({ headers }) => headers['kindgi-pack-token'])).toEqual(['in-the-file', 'in-the-variable']);
  });
});
