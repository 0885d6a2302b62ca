// `--sample`: an input from a schema that fits it, or says where it may not.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { textMatching } from '../../../../gateway/cli/invoke/pattern.ts';
import { sampleOf } from '../../../../gateway/cli/invoke/sample.ts';
import { Builds } from '../../../../gateway/supervisor/builds.ts';
import { deploymentFolder } from '../../../../gateway/supervisor/stateDir.ts';
import { temporaryFolder } from '../../../support/files.ts';
import { packgate } from '../output.ts';
import { fakeGateway, result } from './fakeGateway.ts';

type Schema = Parameters<typeof sampleOf>[0];

/** Whether the sample fits its schema, as a validator of its own has it. */
function fits(schema: Schema, value: unknown): boolean {
  const ajv = new Ajv2020({ strict: false, logger: false });
  formats.default(ajv);
  return ajv.validate(schema, value);
}

const FITTING: [string, Schema][] = [
  ['anything', true],
  ['an empty schema', {}],
  [
    'nested objects',
    {
      type: 'object',
      required: ['a'],
      additionalProperties: false,
      properties: { a: { type: 'object', required: ['b'], properties: { b: { type: 'string' } } } },
    },
  ],
  ['a required property without a schema', { type: 'object', required: ['a'] }],
  [
    'a required property that further ones describe',
    { type: 'object', required: ['a'], additionalProperties: { type: 'integer' } },
  ],
  ['a property that is never allowed', { type: 'object', properties: { a: false } }],
  [
    'const, enum, default, examples',
    {
      type: 'object',
      properties: {
        a: { const: 7 },
        b: { enum: ['x', 'y'] },
        c: { type: 'integer', default: 3 },
        d: { examples: ['e'] },
      },
    },
  ],
  ['several types', { type: ['null', 'integer'], minimum: 5 }],
  ['only null', { type: 'null' }],
  [
    'lengths',
    {
      type: 'array',
      prefixItems: [
        { type: 'string', minLength: 20 },
        { type: 'string', maxLength: 2 },
        { type: 'string', maxLength: 0 },
      ],
      items: false,
    },
  ],
  [
    'numbers between bounds',
    {
      type: 'object',
      properties: {
        a: { type: 'integer', minimum: 10, maximum: 12 },
        b: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.5 },
        c: { type: 'integer', multipleOf: 7, minimum: 15 },
        d: { type: 'integer', maximum: -3 },
        e: { type: 'number', exclusiveMaximum: -10 },
        f: { type: 'integer', exclusiveMinimum: 4, maximum: 5 },
      },
    },
  ],
  ['items', { type: 'array', minItems: 3, items: { type: 'boolean' } }],
  ['no items', { type: 'array', maxItems: 0, items: { type: 'boolean' } }],
  [
    'types that are not named',
    { properties: { a: { minimum: 3 }, b: { minLength: 2 }, c: { items: { type: 'string' } } } },
  ],
  [
    'all, any, one',
    {
      allOf: [
        { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
        { required: ['b'], properties: { b: { type: 'integer' } } },
      ],
      anyOf: [{ properties: { c: { const: 1 } }, required: ['c'] }, { required: ['d'] }],
      oneOf: [{ required: ['e'] }, { required: ['zz'] }],
    },
  ],
  [
    'references',
    {
      $defs: {
        name: { type: 'string', minLength: 1 },
        'a/b': { $ref: '#/$defs/name' },
        anchored: { $anchor: 'here', type: 'integer' },
      },
      type: 'object',
      required: ['a', 'b', 'c'],
      properties: { a: { $ref: '#/$defs/name' }, b: { $ref: '#/$defs/a~1b' }, c: { $ref: '#here' } },
    },
  ],
  [
    'a tree of itself',
    {
      $defs: {
        node: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
        },
      },
      $ref: '#/$defs/node',
    },
  ],
  [
    'names with a meaning elsewhere',
    {
      type: 'object',
      required: ['__proto__', 'constructor'],
      properties: JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"integer"}}') as Record<
        string,
        never
      >,
    },
  ],
  ['a pattern', { type: 'string', pattern: '^[A-Z]{3}-\\d{4}$' }],
  ['a pattern and a length', { type: 'string', pattern: '^[a-z]+$', minLength: 12 }],
  ...[
    'date-time',
    'date',
    'time',
    'duration',
    'uuid',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'uri',
    'uri-reference',
    'json-pointer',
    'regex',
  ].map((format): [string, Schema] => [`the format ${format}`, { type: 'string', format }]),
];

describe('a sample', () => {
  it.each(FITTING)('of %s fits, without a doubt, and is the same each time', (_, schema) => {
    const { value, doubts } = sampleOf(schema);
    expect(doubts).toEqual([]);
    expect([value, fits(schema, value)]).toEqual([value, true]);
    expect(sampleOf(schema).value).toEqual(value);
  });

  it('shows optional properties, too', () => {
    const properties = { a: { type: 'string' }, b: { type: 'array', items: { type: 'integer' } } };
    expect(sampleOf({ type: 'object', properties }).value).toEqual({ a: 'text', b: [1] });
  });

  it.each<[string, Schema, RegExp]>([
    ['nothing', false, /\(the whole\): nothing is allowed/],
    [
      'no end',
      {
        $defs: { a: { type: 'object', required: ['a'], properties: { a: { $ref: '#/$defs/a' } } } },
        $ref: '#/$defs/a',
      },
      /has no end/,
    ],
    [
      'a circle',
      { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
      /refers to itself/,
    ],
    ['a reference to elsewhere', { $ref: 'https://example.com/x' }, /nothing is found for https/],
    [
      'a pattern that looks around',
      { type: 'object', required: ['a'], properties: { a: { type: 'string', pattern: '^(?=x)' } } },
      /^\/a: it has to match/,
    ],
    ['a format of another length', { type: 'string', format: 'date', minLength: 11 }, /length has to be/],
    ['no number', { type: 'integer', minimum: 5, maximum: 4 }, /no number was found/],
    ['what is not looked at', { type: 'object', not: { required: ['a'] } }, /"not" was not looked at/],
  ])('of %s is made in bounded time, with a doubt', (_, schema, doubt) => {
    const begun = performance.now();
    const { doubts } = sampleOf(schema);
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(doubts.join('\n')).toMatch(doubt);
  });
});

describe('a text for a pattern', () => {
  it.each([
    '^[a-z]+$',
    '^acme\\.[a-z-]{2,10}$',
    '^(?:GET|POST) /\\w*$',
    '^\\d{4}-\\d\\d-\\d\\d$',
    '[^a-z]',
    '[^xX0]',
    '^$',
    'a|b',
    '^(a|b)c?$',
    '^\\u0041\\x42$',
    '^[\\d.]+$',
    '^[-a]$',
    '^[a-]$',
    '^\\S+@\\S+\\.\\S+$',
    '^(?<year>\\d{4})$',
    '.',
    '^[^\\n]*$',
    '^\\p$|x',
    '^x*?y$',
    '[ -~]+',
    '^ü{2}$',
  ])('%s is found by reading it, or not at all', (pattern) => {
    const text = textMatching(pattern);
    const isUnread = pattern.includes('\\p');
    expect([text, text === undefined || new RegExp(pattern).test(text)]).toEqual([isUnread ? undefined : text, true]);
    expect(text === undefined).toBe(isUnread);
  });

  it.each(['(?=a)', '(?<!a)b', '\\bword', '\\1', '(a', '[a', 'a{9999}', '\\', '*', 'a^', '$a', '(?i)a', ')'])(
    '%s is not',
    (pattern) => {
      expect(textMatching(pattern)).toBeUndefined();
    },
  );

  it('of one that would take for ever to run is there at once', () => {
    const begun = performance.now();
    expect(textMatching(`^${'(a+)+'.repeat(30)}$`)).toMatch(/^a+$/);
    expect(performance.now() - begun).toBeLessThan(1000);
  });
});

describe('packgate invoke --sample', () => {
  const INDEX = JSON.stringify({
    v: 1,
    tools: [
      { id: 'acme.echo', version: '1', input: { type: 'object', properties: { old: { const: true } } } },
      { id: 'acme.echo', version: '2', input: { type: 'object', properties: { name: { type: 'string' } } } },
      { id: 'acme.odd', version: '1', input: { type: 'string', pattern: '(?=x)' } },
    ],
  });
  const YAML = 'listen: unix:run.sock\ntenants: { t: { pack: packs/a } }';

  function folderWith(files: Readonly<Record<string, string>>): string {
    const folder = temporaryFolder();
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return folder;
  }
  const sample = (cwd: string, ...argv: string[]): ReturnType<typeof packgate> =>
    packgate(['invoke', ...argv], { cwd, env: { PACKGATE_TOKEN: 'a-token-of-enough-characters' } });

  it.each(['packs/a/dist/index.json', 'packs/a/index.json'])(
    'finds %s, and needs no gateway to print',
    async (path) => {
      const cwd = folderWith({ 'packgate.yaml': YAML, [path]: INDEX });
      expect(await sample(cwd, 'acme.echo', '--sample', '--dry-run')).toEqual({
        code: 0,
        stdout: '{\n  "name": "text"\n}\n',
        stderr: '',
      });
    },
  );

  it('finds what the gateway has built', async () => {
    const cwd = folderWith({ 'packgate.yaml': YAML });
    const { servingPath, buildsDir } = deploymentFolder(join(cwd, '.packgate'), 't', 'default');
    const kept = '0123456789ab';
    const index = new Builds(buildsDir).indexOf(kept);
    mkdirSync(dirname(index), { recursive: true });
    writeFileSync(index, INDEX);
    writeFileSync(servingPath, JSON.stringify({ kept, isRolledBack: false, basis: '' }));
    expect((await sample(cwd, 'acme.echo', '--sample', '--dry-run')).code).toBe(0);
  });

  it('takes the index that is named, and the version', async () => {
    const cwd = folderWith({ 'x.json': INDEX });
    const { stdout } = await sample(
      cwd,
      'acme.echo',
      '--sample',
      '--dry-run',
      '--index',
      'x.json',
      '--tool-version',
      '1',
    );
    expect(JSON.parse(stdout)).toEqual({ old: true });
  });

  it('calls with it and shows it, data still alone on stdout', async () => {
    const cwd = folderWith({ 'packgate.yaml': YAML, 'packs/a/index.json': INDEX });
    const gateway = await fakeGateway(result('ok'), join(cwd, 'run.sock'));
    const { code, stdout, stderr } = await sample(cwd, 'acme.echo', '--sample');
    expect([code, stdout]).toEqual([0, '"ok"\n']);
    expect(stderr).toMatch(/^input: \{\n {2}"name": "text"\n\}\nresult of acme\.echo/);
    expect(gateway.message()).toMatchObject({ input: { name: 'text' } });
  });

  it('says where it may not fit', async () => {
    const cwd = folderWith({ 'x.json': INDEX });
    const { stderr } = await sample(cwd, 'acme.odd', '--sample', '--dry-run', '--index', 'x.json');
    expect(stderr).toBe('packgate: the sample may not fit: (the whole): it has to match (?=x)\n');
  });

  it.each([
    [['acme.ecoh', '--index', 'x.json'], 1, 'the index has no tool acme.ecoh. Did you mean acme.echo?'],
    [['acme.echo', '--index', 'nope.json'], 1, 'nope.json has no tools, or is not there'],
    [['acme.echo', '--index', 'bad.json'], 1, 'bad.json cannot be read: it is not JSON'],
    [['acme.echo'], 69, 'no gateway answers at unix:'],
    [['acme.echo', '--url', 'http://x', '--tenant', 't'], 1, 'there is no configuration that names the pack'],
  ])('%j without such a schema is %d', async (argv, code, message) => {
    const cwd = folderWith({ 'packgate.yaml': YAML, 'x.json': INDEX, 'bad.json': '{' });
    const outcome = await sample(cwd, ...argv, '--sample', '--dry-run');
    expect(outcome).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) as string });
  });
});
