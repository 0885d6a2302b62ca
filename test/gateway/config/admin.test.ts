import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { defaultAdminSocket } from '../../../gateway/config/adminSocket.ts';
import { load } from '../../../gateway/config/load.ts';
import { configurationOf, HOST_ENV, makeFolder, problemsOf, TOKEN, warningsOf, withTenant } from './folder.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const withAdmin = (admin: string): string => `admin: ${admin}\n${withTenant()}`;

describe('the admin side', () => {
  it('listens where it is told, with the token it is told', async () => {
    const files = { 'operator.token': `${TOKEN}-ops\n` };
    for (const source of ['{ env: OPS }', '{ file: operator.token }', `{ sha256: ${sha256(`${TOKEN}-ops`)} }`]) {
      const yaml = withAdmin(`{ listen: 127.0.0.1:8788, token: ${source} }`);
      const { admin } = await configurationOf(yaml, files, { ...HOST_ENV, OPS: `${TOKEN}-ops` });
      expect(admin).toEqual({
        listen: { kind: 'tcp', host: '127.0.0.1', port: 8788 },
        tokenSha256: sha256(`${TOKEN}-ops`),
      });
    }
  });

  it.each(['{}', `{ token: { sha256: ${sha256('x')} } }`])(
    'is a socket in the state folder where nothing else is said: %s',
    async (written) => {
      const { admin, stateDir } = await configurationOf(`stateDir: state\n${withAdmin(written)}`);
      expect(admin.listen).toEqual({ kind: 'unix', path: `${stateDir}/admin.sock` });
    },
  );

  it('follows the state folder that a program gives instead of the file’s', async () => {
    const cwd = makeFolder({ 'packgate.yaml': `stateDir: state\n${withTenant()}` });
    const loaded = await load('packgate.yaml', { env: HOST_ENV, cwd, stateDir: '/elsewhere' });
    expect(loaded).toMatchObject({
      configuration: { stateDir: '/elsewhere', admin: { listen: { path: '/elsewhere/admin.sock' } } },
    });
  });

  it('needs no token on a Unix socket, which its mode guards', async () => {
    expect((await configurationOf(withAdmin('{ listen: "unix:ops.sock" }'))).admin).toMatchObject({
      listen: { kind: 'unix', path: expect.stringMatching(/\/ops\.sock$/) as string },
    });
  });

  it('that others can reach is warned of', async () => {
    const token = `token: { sha256: ${sha256('x')} }`;
    expect(await warningsOf(withAdmin(`{ listen: 0.0.0.0:8788, ${token} }`))).toEqual([
      "packgate.yaml:1:10: admin.listen: warning: other machines can connect, and the operators' token is not encrypted on the way",
    ]);
    expect(await warningsOf(withAdmin(`{ listen: 127.0.0.1:8788, ${token} }`))).toEqual([]);
  });

  it.each([
    ['{ listen: 127.0.0.1:8788 }', 'admin.listen: expected an admin.token where it is no Unix socket, got none'],
    ['{ listen: nowhere }', 'admin.listen: expected "host:port"'],
    [`{ listen: "unix:${'x'.repeat(110)}" }`, "admin.listen: expected a socket's path of at most 107 bytes"],
    ['{ listen: 127.0.0.1:8787, token: { env: OTHER_TOKEN } }', 'admin.listen: expected an address of its own'],
    ['{ token: { env: TOKEN } }', "admin.token: expected a token of its own, got one that callers' tokens have, too"],
    ['{ listen: 127.0.0.1:8788, token: { env: NONE } }', 'admin.token.env: expected the name of a variable'],
    ['{ token: { file: none } }', 'admin.token.file: expected a file that can be read, got no such file'],
    ['{ token: {} }', 'admin.token: expected a mapping with exactly one of env, file and sha256'],
    ['{ token: { evn: TOKEN } }', 'Did you mean "env"?'],
    ['{ lisen: x }', 'Did you mean "listen"?'],
    ['5', 'admin: expected a mapping with listen and token, got the number 5'],
  ])('written as %s is one problem', async (written, text) => {
    const problems = await problemsOf(withAdmin(written));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^packgate\.yaml:1:\d+: /);
    expect(problems[0]).toContain(text);
  });

  it('never shows a token', async () => {
    const [problem, ...others] = await problemsOf(withAdmin('hunter2-hunter2'.replace(/^/, '{ token: ') + ' }'));
    expect(problem).toContain('got a text (not shown)');
    expect(others).toEqual([]);
  });
});

describe('the socket where none is configured', () => {
  it('is in the state folder as long as the kernel has room for its path', () => {
    const fits = `/${'s'.repeat(107 - '//admin.sock'.length)}`;
    expect(defaultAdminSocket(fits, '/tmp', 7)).toBe(`${fits}/admin.sock`);
    const path = defaultAdminSocket(`${fits}s`, '/tmp', 7);
    expect(path).toBe(`/tmp/packgate-7-${sha256(`${fits}s`).slice(0, 16)}/admin.sock`);
    expect(defaultAdminSocket(`${fits}s`, '/tmp', 7)).toBe(path);
    expect(defaultAdminSocket(`${fits}t`, '/tmp', 7)).not.toBe(path);
  });
});
