import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load } from '../../../gateway/config/load.ts';
import { configurationOf, HOST_ENV, makeFolder, problemsOf, warningsOf, withTenant } from './folder.ts';

describe('the address', () => {
  it.each([
    ['127.0.0.1:0', { kind: 'tcp', host: '127.0.0.1', port: 0 }],
    ['localhost:80', { kind: 'tcp', host: 'localhost', port: 80 }],
    ['"[::1]:8787"', { kind: 'tcp', host: '::1', port: 8787 }],
    ['fd:3', { kind: 'fd', fd: 3 }],
    ['unix:/run/packgate.sock', { kind: 'unix', path: '/run/packgate.sock' }],
  ])('may be %s', async (listen, address) => {
    expect((await configurationOf(`listen: ${listen}\n${withTenant()}`)).listen).toEqual(address);
  });

  it('as a path counts from the file', async () => {
    const folder = makeFolder({
      'etc/packgate.yaml': `listen: unix:x.sock\n${withTenant().replace('packs', '../packs')}`,
    });
    const loaded = await load('etc/packgate.yaml', { env: HOST_ENV, cwd: folder });
    expect(loaded).toMatchObject({ configuration: { listen: { kind: 'unix', path: join(folder, 'etc/x.sock') } } });
  });

  it.each([
    '8787',
    '":8787"',
    '127.0.0.1',
    '127.0.0.256:80',
    '127.0.0.1:70000',
    '"[::x]:80"',
    '"::1:80"',
    'fd:2',
    'fd:x',
    '"unix:"',
    'http://a:80',
    '"a b:80"',
    `unix:/${'x'.repeat(107)}`,
  ])('may not be %s', async (listen) => {
    const problems = await problemsOf(`listen: ${listen}\n${withTenant()}`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^packgate\.yaml:1:9: listen: expected /);
  });

  it.each(['0.0.0.0:80', '"[::]:80"', 'packs.example.com:80'])('of %s is warned of', async (listen) => {
    expect(await warningsOf(`listen: ${listen}\n${withTenant()}`)).toEqual([
      'packgate.yaml:1:1: listen: warning: other machines can connect, and calls and their tokens are not encrypted on the way',
    ]);
  });
});
