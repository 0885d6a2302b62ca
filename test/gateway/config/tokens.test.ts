import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { configurationOf, problemsOf, TENANT_A, TENANT_B, TOKEN, withTenant } from './folder.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const withTokens = (...tokens: string[]): string =>
  `tokens: [${tokens.join(', ')}]\ntenants:\n  ${TENANT_A}: { packs: { crm: { path: packs/a, default: true }, x: { path: packs/a, hosts: [x] } } }\n  ${TENANT_B}: { pack: packs/b }`;

describe('a token', () => {
  it('comes from the environment, from a file or as its hash, without white space around it', async () => {
    const { tokens } = await configurationOf(
      withTokens('{ env: PADDED }', '{ file: a.token }', `{ sha256: ${sha256('third').toUpperCase()} }`),
      { 'a.token': `${TOKEN}-file\r\n` },
      { PADDED: ` ${TOKEN}\n` },
    );
    expect(tokens.map((token) => token.sha256)).toEqual([sha256(TOKEN), sha256(`${TOKEN}-file`), sha256('third')]);
  });

  it('opens any tenant, or those that are named, in either letter case of a UUID', async () => {
    const { tokens } = await configurationOf(
      withTokens(
        '{ env: TOKEN }',
        `{ env: OTHER_TOKEN, tenants: [${TENANT_B.toUpperCase()}, ${TENANT_B}], deployment: default }`,
      ),
    );
    expect(tokens.map(({ tenants, deployment }) => [tenants, deployment])).toEqual([
      ['any', undefined],
      [[TENANT_B], 'default'],
    ]);
  });

  it('for any tenant may be bound to a deployment that only some have', async () => {
    const { tokens } = await configurationOf(withTokens('{ env: TOKEN, deployment: crm }'));
    expect(tokens).toMatchObject([{ tenants: 'any', deployment: 'crm' }]);
  });

  it.each([
    ['x'.repeat(16), undefined],
    ['x'.repeat(512), undefined],
    ['x'.repeat(15), 'got one of 15 characters (not shown)'],
    ['x'.repeat(513), 'got one of 513 characters (not shown)'],
    ['two words of enough length', 'got one with blanks or other characters (not shown)'],
    ['größer-als-erlaubt', 'got one with blanks or other characters (not shown)'],
    ['', 'got an empty one'],
    ['  \n', 'got an empty one'],
    [undefined, 'got T, which is not set'],
  ])('of %j', async (text, problem) => {
    const fromEnv = await problemsOf(withTokens('{ env: T }'), {}, { T: text });
    expect(fromEnv.map((line) => line.replace(/^.*, got/, 'got'))).toEqual(problem === undefined ? [] : [problem]);
    if (text === undefined) return;
    const fromFile = await problemsOf(withTokens('{ file: t }'), { t: text });
    expect(fromFile.map((line) => line.replace(/^.*, got/, 'got'))).toEqual(problem === undefined ? [] : [problem]);
  });

  it.each([
    [
      '{ env: PACKGATE_CALLER_TOKEN }',
      'tokens[0].env: expected the name of a variable that holds a token, got PACKGATE_CALLER_TOKEN, which is not set',
    ],
    ['{ env: ABCDEFGHIJKLMNOP }', 'got one that is not set'],
    ['{ env: f3b2-caller-token }', 'got one that is not set'],
    ['{ file: none.token }', 'tokens[0].file: expected a file that can be read, got no such file'],
    ['{ file: packs }', 'got a folder'],
    ['{ file: large }', 'got a file of more than 65536 bytes'],
    ['{ sha256: abc }', 'tokens[0].sha256: expected a SHA-256 in 64 hex digits'],
    [`{ sha256: ${'1'.repeat(64)} }`, 'got a number (not shown)'],
    ['{}', 'a mapping with exactly one of env, file and sha256, got an empty mapping'],
    ['{ tenants: [x] }', 'got a mapping with tenants'],
    ['{ env: TOKEN, file: x }', 'got a mapping with env, file'],
    ['{ env: TOKEN, tenants: [] }', "a list of tenants' ids, got an empty list"],
    ['{ env: TOKEN, tenants: any }', 'a list of tenants\' ids, got "any"'],
    ['{ env: TOKEN, tenants: [5] }', "a tenant's id (quote it if it looks like a number), got the number 5"],
    ['{ env: TOKEN, tenants: [nobody] }', `tokens[0].tenants[0]: expected a configured tenant's id, got "nobody"`],
    [`{ env: TOKEN, tenants: [${TENANT_A.replace('3f', '3e')}] }`, `Did you mean "${TENANT_A}"?`],
    [
      `{ env: TOKEN, tenants: [${TENANT_A}], deployment: crn }`,
      `a deployment of tenant "${TENANT_A}", got "crn". There is "crm", "x"`,
    ],
    [
      `{ env: TOKEN, tenants: [${TENANT_A}, ${TENANT_B}], deployment: crm }`,
      `of tenant "${TENANT_B}", got "crm". There is "default"`,
    ],
    ['{ env: TOKEN, deployment: nowhere }', 'the name of a deployment of any tenant, got "nowhere"'],
  ])('%s is refused', async (token, text) => {
    const problems = await problemsOf(withTokens(token), { large: 'x'.repeat(65_537) });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(text);
  });

  it('is written once, wherever it comes from', async () => {
    const problems = await problemsOf(withTokens('{ env: TOKEN }', '{ file: t }', `{ sha256: ${sha256(TOKEN)} }`), {
      t: TOKEN,
    });
    expect(problems).toEqual([
      'packgate.yaml:1:26: tokens[1]: expected every token once, got the one of tokens[0] again. Write one entry with all the tenants that it opens',
      'packgate.yaml:1:39: tokens[2]: expected every token once, got the one of tokens[1] again. Write one entry with all the tenants that it opens',
    ]);
  });
});

it.each(['', '[]', 'null', 'TOKEN', '{ env: TOKEN }'])('no tokens at all (%s) is a mistake', async (tokens) => {
  const problems = await problemsOf(withTenant().replace('[{ env: TOKEN }]', tokens));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain('tokens: expected a list with at least one token');
});
