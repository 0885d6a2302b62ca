import { describe, expect, it } from 'vitest';
import { configurationOf, problemsOf, TENANT_A, withTenant } from './folder.ts';

const envOf = async (...args: Parameters<typeof configurationOf>): Promise<object> => ({
  ...(await configurationOf(...args)).deployments[0]?.env,
});

describe("a pack's environment", () => {
  it('holds texts, variables of the gateway and files, without the line ends at their ends', async () => {
    expect(
      await envOf(
        withTenant('env: { A: text, B: { env: OTHER_TOKEN }, C: { env: EMPTY }, D: { file: d } , E: "" }'),
        { d: ' one\ntwo \r\n\n' },
        { TOKEN: 'a-token-of-enough-characters', OTHER_TOKEN: 'x', EMPTY: '' },
      ),
    ).toEqual({ A: 'text', B: 'x', C: '', D: ' one\ntwo ', E: '' });
  });

  it('is read from dotenv files, the later one first, and overridden by env', async () => {
    expect(
      await envOf(withTenant('envFiles: [one.env, two.env]', 'env: { C: env }'), {
        'one.env': '# comment\nA=one\nexport B=one\n',
        'two.env': 'B="two words"\nC=two\n\n',
      }),
    ).toEqual({ A: 'one', B: 'two words', C: 'env' });
  });

  it('may change what it would have from the gateway, and how much a service logs', async () => {
    const env = { PATH: '/bin', HOME: '/tmp', NODE_OPTIONS: '--max-old-space-size=64', KINDGI_LOG_LEVEL: 'debug' };
    expect(await envOf(withTenant(`env: ${JSON.stringify(env)}`))).toEqual(env);
  });

  it('may have names that mean something to JavaScript', async () => {
    const { deployments } = await configurationOf(withTenant('env: { __proto__: a, constructor: b }'));
    expect(Object.entries(deployments[0]?.env ?? {})).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it.each([
    'PORT',
    'KINDGI_PACK_SERVICE_TOKEN',
    'KINDGI_PACK_TENANT_ID',
    'KINDGI_PACK_ANYTHING',
    'KINDGI_LOG_FORMAT',
    'PACKGATE_BUILD_DIR',
  ])('may not have %s, which the gateway sets', async (name) => {
    expect(await problemsOf(withTenant(`env: { ${name}: "1" }`))).toEqual([
      `packgate.yaml:5:12: tenants.${TENANT_A}.env.${name}: expected names of the pack's own, got ${name}, which the gateway sets. Remove it`,
    ]);
    expect(await problemsOf(withTenant('envFiles: [x.env]'), { 'x.env': `${name}=1` })).toHaveLength(1);
  });

  it('takes a dotenv file with comments, exports, empty lines and values over several lines', async () => {
    const text = '# a comment\n\nexport A=1\r\nB = two words # not part of it\nC="three\nlines = \n here"\nD=\n';
    expect(await envOf(withTenant('envFiles: [good.env]'), { 'good.env': text })).toEqual({
      A: '1',
      B: 'two words',
      C: 'three\nlines = \n here',
      D: '',
    });
  });

  it.each([
    ['env: { A: { env: NOBODY } }', `env.A.env: expected a variable that is set where the gateway runs, got NOBODY`],
    ['env: { A: { file: none } }', 'env.A.file: expected a file that can be read, got no such file'],
    ['env: { A: 5 }', 'a text (quote numbers), { env: NAME } or { file: PATH }, got a number (not shown)'],
    ['env: { A: }', 'got nothing'],
    ['env: { A: { env: X, file: y } }', 'got a mapping'],
    ['env: { A: "a\\0b" }', 'one with a NUL character (not shown)'],
    ['env: { 1A: x }', 'a name of letters, digits and underscores that begins with no digit, got "1A"'],
    ['env: { a-b: x }', 'got "a-b"'],
    ['env: [A=x]', 'a mapping from names to values, got a list'],
    ['envFiles: none.env', 'a list of paths of dotenv files, got "none.env"'],
    ['envFiles: [none.env]', 'envFiles[0]: expected a dotenv file that can be read, got no such file'],
    ['envFiles: [bad.env]', 'a dotenv file of lines NAME=value, got another line in it (not shown)'],
  ])('may not be %s', async (line, text) => {
    const problems = await problemsOf(withTenant(line), { 'bad.env': 'A=1\nno name here\nB=2' });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(text);
  });
});
