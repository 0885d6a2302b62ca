import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOST_ENV, makeFolder, withTenant } from '../config/folder.ts';
import type { Outcome } from './output.ts';

const MAIN = resolve('dist/gateway/main.js');

/** Runs the built program as a process of its own. */
async function run(cwd: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return new Promise((done) => {
    execFile(process.execPath, [MAIN, ...argv], { cwd, env: { ...HOST_ENV, ...env } }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

describe('the program', () => {
  it('exits with 0 for a good configuration and warns of nothing, Node included', async () => {
    const cwd = makeFolder({ 'packgate.yaml': withTenant('envFiles: [x.env]'), 'x.env': 'A=b' });
    const { code, stdout, stderr } = await run(cwd, ['check']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('packs/a');
  });

  it.each(['check', 'serve'])(
    'exits %s with 78 for a bad configuration, having said where it is bad',
    async (command) => {
      const cwd = makeFolder({ 'etc/x.yaml': `lisen: x\n${withTenant().replace('packs/a', '../nope')}` });
      const { code, stdout, stderr } = await run(cwd, [command, '-c', 'etc/x.yaml']);
      expect([code, stdout]).toEqual([78, '']);
      expect(stderr).toMatch(/^etc\/x\.yaml:1:1: .*\netc\/x\.yaml:5:11: .*\n$/);
    },
  );

  it.each([
    [[], 2],
    [['chekc'], 2],
    [['check', '--nope'], 2],
    [['--version'], 0],
    [['help'], 0],
    [['check', '--help'], 0],
  ])('exits %j with %d', async (argv, code) => {
    expect((await run(makeFolder(), argv)).code).toBe(code);
  });

  it('does not mind that nobody reads its output to the end', async () => {
    const tenants = Array.from({ length: 2000 }, (_, n) => `  t${n}: { pack: packs/a }`).join('\n');
    const cwd = makeFolder({ 'packgate.yaml': `tokens: [{ env: TOKEN }]\ntenants:\n${tenants}` });
    const script = `"${process.execPath}" "${MAIN}" check --json | head -c 10; echo " \${PIPESTATUS[0]}"`;
    const stdout = await new Promise<string>((done) => {
      execFile('bash', ['-c', script], { cwd, env: HOST_ENV }, (_, out) => done(out));
    });
    expect(stdout).toMatch(/ 0\n$/);
  });
});
