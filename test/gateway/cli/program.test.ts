import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packgate } from './output.ts';

describe('packgate', () => {
  it('alone prints its usage and is wrong usage', async () => {
    const { code, stdout, stderr } = await packgate([]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Usage: packgate <command> [options]');
  });

  it.each([['help'], ['--help'], ['-h']])('%s lists the commands', async (word) => {
    const { code, stdout, stderr } = await packgate([word]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^ {2}serve {2,}\S/m);
    expect(stdout).toMatch(/^ {2}check {2,}\S/m);
  });

  it.each(['serve', 'check'])('shows the help of %s in three ways, with an example', async (name) => {
    const { code, stdout } = await packgate([name, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: packgate ${name}`);
    expect(stdout).toMatch(/-c, --config <file>/);
    expect(stdout).toContain('--json');
    expect(stdout).toMatch(new RegExp(`Examples:\\n {2}packgate ${name}`));
    expect(await packgate(['help', name])).toMatchObject({ code: 0, stdout });
    expect(await packgate([name, '--wrong', '-h'])).toMatchObject({ code: 0, stdout });
  });

  it('prints the version of its package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await packgate(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each([
    [['chekc'], 'packgate: unknown command "chekc". Did you mean check?\n'],
    [['help', 'serv'], 'packgate: unknown command "serv". Did you mean serve?\n'],
    [['zzzzzz'], 'packgate: unknown command "zzzzzz". Try "packgate help".\n'],
    [['constructor'], 'packgate: unknown command "constructor". Try "packgate help".\n'],
    [['--verison'], 'packgate: unknown option --verison. Did you mean --version?\n'],
    [['check', '--confg=x'], 'packgate: unknown option --confg. Did you mean --config?\n'],
    [['check', '-c'], 'packgate: -c needs a value. Write -c <file>.\n'],
    [['check', 'x.yaml'], 'packgate: unexpected argument "x.yaml". Options start with a dash.\n'],
  ])('%j is wrong usage', async (argv, stderr) => {
    expect(await packgate(argv)).toEqual({ code: 2, stdout: '', stderr });
  });
});
