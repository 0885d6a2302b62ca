import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';

import { createSchemaCompiler } from '../../../child/schemas.ts';
import type { Checker, Schema } from '../../../child/schemas.ts';
import { checkerOf } from '../../../child/schemas/checker.ts';
import { prepareSchemas } from '../../../child/schemas/prepare.ts';
import type { SchemaList } from '../../../child/schemas/wants.ts';
import { STORED_BY } from '../../../child/schemas/stored.ts';
import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';

const folders: Folder[] = [];
afterEach(() => folders.splice(0).forEach((folder) => folder.remove()));

function temporary(): string {
  const folder = makeFolder();
  folders.push(folder);
  return folder.path;
}

/** The list of one schema, judged both ways. */
function listOf(...schemas: Schema[]): SchemaList {
  return { input: schemas, exact: schemas, usesFormats: true };
}

/** Everything to be seen of a check: its issues as they are sent, and what it made of the value. */
function seen(checker: Checker, value: unknown): string {
  const copy = structuredClone(value);
  return checker.ok ? JSON.stringify([checker.check(copy), copy]) : `does not compile: ${checker.error.message}`;
}

/** Compiled without any of our shortcuts. */
function plainChecker(schema: Schema, useDefaults: boolean): Checker {
  const ajv = new Ajv2020({ strict: false, allErrors: true, useDefaults, logger: false, validateSchema: false });
  formats.default(ajv);
  try {
    return checkerOf(ajv.compile(schema as object));
  } catch (error) {
    return checkerOf(error as Error);
  }
}

/** Lets a first start store and a second one take it, and says how the plain compiler and both judge. */
async function judgeThreeWays(schema: Schema, values: readonly unknown[]): Promise<string[][]> {
  const folder = temporary();
  const first = await prepareSchemas(listOf(schema), folder);
  await first.keep();
  const second = await prepareSchemas(listOf(schema), folder);
  return [
    [plainChecker(schema, true), plainChecker(schema, false)],
    [first.input(schema), first.exact(schema)],
    [second.input(schema), second.exact(schema)],
  ].map((checkers) => values.flatMap((value) => checkers.map((checker) => seen(checker, value))));
}

const EXAMPLES: readonly { name: string; schema: Schema; values: readonly unknown[] }[] = [
  {
    name: 'objects',
    schema: {
      type: 'object',
      properties: { 'a/b~c': { type: 'string' }, n: { type: ['integer', 'null'] } },
      patternProperties: { '^x-': { type: 'boolean' } },
      propertyNames: { maxLength: 5 },
      required: ['a/b~c', 'n'],
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 2,
      dependentRequired: { n: ['x-on'] },
      dependentSchemas: { 'x-on': { required: ['a/b~c'] } },
    },
    values: [{}, null, { 'a/b~c': 1, n: '1', other: 1, toolongname: 2 }, { 'a/b~c': '', n: null }, { 'x-on': 1 }],
  },
  {
    name: 'lists',
    schema: {
      type: 'array',
      prefixItems: [{ const: { a: [1, 'ü'] } }, { enum: [1, 'a', null, { b: 2 }] }],
      items: { type: 'number', multipleOf: 0.5 },
      contains: { minimum: 3 },
      minContains: 1,
      maxContains: 1,
      uniqueItems: true,
      maxItems: 5,
    },
    values: [[], [{ a: [1, 'ü'] }, { b: 2 }, 3], [1, 2, 0.3, 4, 4, 4], 'no list', [{ a: [1] }, null, 7, 8]],
  },
  {
    name: 'texts, with lengths in code points',
    schema: { type: 'string', minLength: 2, maxLength: 3, pattern: '^\\p{Letter}+$' },
    values: ['', '😀😀', 'äöü', 'abcd', 5],
  },
  {
    name: 'formats',
    schema: {
      properties: {
        at: { format: 'date-time' },
        on: { format: 'date' },
        mail: { format: 'email' },
        id: { format: 'uuid' },
        link: { format: 'uri' },
        odd: { format: 'nobody-knows' },
        later: { format: 'date', formatMinimum: '2026-01-01' },
      },
    },
    values: [{ at: 'x', on: '2026-02-30', mail: '@', id: '1', link: '::', odd: 1, later: '2025-12-31' }, { at: 1 }],
  },
  {
    name: 'defaults, nested and in lists',
    schema: {
      type: 'object',
      properties: {
        size: { type: 'integer', default: 3 },
        deep: { type: 'object', default: {}, properties: { list: { default: [1, { a: 'b' }] } } },
        items: { type: 'array', items: { properties: { on: { default: true } } } },
        bad: { type: 'string', default: 1 },
      },
      allOf: [{ properties: { all: { default: null } } }],
      anyOf: [{ properties: { never: { default: 1 } } }, true],
    },
    values: [{}, { items: [{}, { on: false }], deep: { list: 0 } }, { size: null }, []],
  },
  {
    name: 'combinations, and what is left unevaluated',
    schema: {
      oneOf: [
        { properties: { kind: { const: 'a' }, a: { type: 'number' } }, required: ['kind'] },
        { properties: { kind: { const: 'b' } }, required: ['kind'] },
      ],
      not: { required: ['forbidden'] },
      if: { properties: { kind: { const: 'a' } } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { required: ['a'] },
      else: { required: ['b'] },
      unevaluatedProperties: false,
    },
    values: [{ kind: 'a', a: 1 }, { kind: 'a', x: 1 }, { kind: 'b', forbidden: 1 }, {}, { kind: 'c' }],
  },
  {
    name: 'references, also to itself',
    schema: {
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, v: { default: 1 } } } },
      properties: { head: { $ref: '#/$defs/node' }, again: { $ref: '#' } },
      additionalProperties: false,
    },
    values: [{ head: { next: { next: 5 } } }, { again: { again: { other: 1 } } }, { head: {} }],
  },
  {
    name: 'identified schemas and dynamic references',
    schema: {
      $id: 'https://example.com/tree',
      $dynamicAnchor: 'node',
      type: 'object',
      properties: { children: { type: 'array', items: { $dynamicRef: '#node' } }, data: { type: 'string' } },
      $defs: { part: { $id: 'part', type: 'number' } },
      required: ['data'],
    },
    values: [{ data: '', children: [{}, { data: 1 }] }, {}],
  },
  {
    name: 'the schema of schemas',
    schema: { $ref: 'https://json-schema.org/draft/2020-12/schema' },
    values: [{ type: 1 }, {}, 1],
  },
  { name: 'nothing', schema: false, values: [1, {}] },
  { name: 'anything', schema: {}, values: [1, {}] },
  { name: 'unknown keywords', schema: { kind: 'x', minimum: 3, items: { also: 1 } }, values: [1, [1]] },
];

describe('compiled schemas of an earlier start', () => {
  it.each(EXAMPLES)('judge $name as the compiler does, to the byte (D17, D18, F13)', async ({ schema, values }) => {
    const [plain, first, second] = await judgeThreeWays(schema, values);
    expect(first).toEqual(plain);
    expect(second).toEqual(plain);
  });

  it('judge whatever schema and value as the compiler does (D17, D18, F13)', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitrarySchema(),
        fc.array(arbitraryValue(), { minLength: 1, maxLength: 4 }),
        async (schema, values) => {
          const [plain, first, second] = await judgeThreeWays(schema, values);
          expect(first).toEqual(plain);
          expect(second).toEqual(plain);
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);

  it('refer to themselves, not to another one that does so as well (F5, F10)', async () => {
    const recursive = (type: string): Schema => ({
      type: 'object',
      properties: { value: { type }, next: { $ref: '#' } },
    });
    const schemas = [recursive('string'), recursive('number')];
    const folder = temporary();
    for (const start of ['first', 'second']) {
      const prepared = await prepareSchemas(listOf(...schemas), folder);
      await prepared.keep();
      const wrong = schemas.map((schema) => seen(prepared.exact(schema), { next: { next: { value: true } } }));
      expect([start, ...wrong]).toEqual([
        start,
        expect.stringContaining('must be string'),
        expect.stringContaining('must be number'),
      ]);
    }
  });

  it('are taken from the folder, not made again', async () => {
    const folder = temporary();
    const list = listOf({ type: 'string' });
    await (await prepareSchemas(list, folder)).keep();
    const code =
      'return [Object.assign(() => false, { errors: [{ instancePath: "", params: {}, message: "from the folder" }] })];\n';
    writeFileSync(storedFile(folder), `${createHash('sha256').update(code).digest('hex')}\n${code}`);
    expect(seen((await prepareSchemas(list, folder)).exact({ type: 'string' }), 'fits')).toContain('from the folder');
  });

  it.each([
    { what: 'cut', change: (text: string) => text.slice(0, -20) },
    { what: 'changed', change: (text: string) => text.replace('must be string', 'must be strong') },
    { what: 'empty', change: () => '' },
    { what: 'whole, but not to be loaded', change: () => sealed('throw new Error("no");') },
    { what: 'whole, but no code', change: () => sealed('return [') },
    { what: 'whole, but of something that is not there', change: () => sealed('return [require("node:fs")];') },
    { what: 'whole, but of too few', change: () => sealed('return [];') },
  ])('are made again when their file is $what', async ({ change }) => {
    const folder = temporary();
    const list = listOf({ type: 'string' });
    await (await prepareSchemas(list, folder)).keep();
    const whole = readFileSync(storedFile(folder), 'utf8');
    writeFileSync(storedFile(folder), change(whole));
    const again = await prepareSchemas(list, folder);
    expect(seen(again.exact({ type: 'string' }), 1)).toContain('must be string');
    await again.keep();
    expect(readFileSync(storedFile(folder), 'utf8')).toBe(whole);
  });

  it('are of these very schemas: another list has a file of its own', async () => {
    const folder = temporary();
    await (await prepareSchemas(listOf({ type: 'string' }), folder)).keep();
    await (await prepareSchemas(listOf({ type: 'number' }), folder)).keep();
    expect(readdirSync(folder)).toHaveLength(2);
    expect(seen((await prepareSchemas(listOf({ type: 'number' }), folder)).exact({ type: 'number' }), 1)).toBe(
      '[[],1]',
    );
  });

  it('are not stored when one does not compile, so that its error stays the same (D12)', async () => {
    const folder = temporary();
    const list = listOf({ type: 'strange' }, { type: 'string' });
    const first = await prepareSchemas(list, folder);
    await first.keep();
    expect(readdirSync(folder)).toEqual([]);
    expect(seen(first.exact({ type: 'strange' }), 1)).toMatch(/^does not compile: /);
  });

  it('are not stored when a schema names `__proto__`, which code reads as something else', async () => {
    const folder = temporary();
    const schema = { const: JSON.parse('{"__proto__":1}') as unknown };
    await (await prepareSchemas(listOf(schema), folder)).keep();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('cannot be stored in a folder that cannot be made, and that is said', async () => {
    const file = join(temporary(), 'file');
    writeFileSync(file, '');
    const prepared = await prepareSchemas(listOf({ type: 'string' }), join(file, 'below'));
    expect(seen(prepared.exact({ type: 'string' }), 'fits')).toBe('[[],"fits"]');
    await expect(prepared.keep()).rejects.toThrow('ENOTDIR');
  });

  it('belong to the pinned compiler', () => {
    const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
    const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
    expect(STORED_BY).toContain(`ajv ${dependencies.ajv}, ajv-formats ${dependencies['ajv-formats']},`);
  });
});

describe('a schema compiled as it comes', () => {
  it('fails alike however often it is asked for (D12)', async () => {
    const compiler = await createSchemaCompiler({ usesFormats: false });
    const schema = { properties: { a: { $ref: '#/$defs/missing' } } };
    const tries = [compiler.exact(schema), compiler.exact(schema)].map((checker) => seen(checker, {}));
    expect(tries).toEqual(Array(2).fill(expect.stringMatching(/^does not compile: can't resolve reference/)));
  });

  it('fails with a reason, not with a fault of ours, when its `$id` is no text (D12)', async () => {
    const compiler = await createSchemaCompiler({ usesFormats: false });
    expect(seen(compiler.exact({ $id: 5 }), {})).toMatch(/^does not compile: /);
    expect(seen(compiler.exact({ type: 'string' }), 1)).toContain('must be string');
  });

  it('with an `$id` may be there in several tools', async () => {
    const compiler = await createSchemaCompiler({ usesFormats: false });
    const checkers = ['string', 'number'].map((type) => compiler.exact({ $id: 'https://example.com/model', type }));
    expect(checkers.map((checker) => seen(checker, 1).includes('must be'))).toEqual([true, false]);
  });
});

describe('what the indexer stores', () => {
  it('judges as what a start would have stored, under the same name', async () => {
    const lists = [
      listOf({ type: 'string' }, { properties: { a: { default: 1 } } }),
      { ...listOf({ format: 'date' }, {}, true), usesFormats: true },
      { ...listOf({ $ref: '#/$defs/a', $defs: { a: { $ref: '#' } } }), usesFormats: false },
    ];
    for (const list of lists) {
      const [ofStart, ofIndexer] = [temporary(), temporary()];
      await (await prepareSchemas(list, ofStart)).keep();
      const compiler = await createSchemaCompiler({ usesFormats: true });
      compiler.exact({ type: 'number', default: 1 });
      await compiler.keep(list, ofIndexer);
      expect(readdirSync(ofIndexer)).toEqual(readdirSync(ofStart));
      const [stored, again] = await Promise.all([prepareSchemas(list, ofStart), prepareSchemas(list, ofIndexer)]);
      for (const schema of list.exact) {
        for (const value of [{}, 1, 'x'])
          expect(seen(again.input(schema), value)).toBe(seen(stored.input(schema), value));
      }
    }
  });

  it('is nothing where every value fits', async () => {
    const folder = temporary();
    await (await createSchemaCompiler({ usesFormats: true })).keep(listOf({}, true), folder);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the schemas of a list', () => {
  it('leave nothing behind without a folder that outlives the process', async () => {
    const prepared = await prepareSchemas(listOf({ type: 'string' }), undefined);
    await prepared.keep();
    expect(seen(prepared.input({ type: 'string' }), 'fits')).toBe('[[],"fits"]');
  });

  it('store nothing where every value fits', async () => {
    const folder = join(temporary(), 'new');
    const prepared = await prepareSchemas(listOf({}, true), folder);
    await prepared.keep();
    expect(existsSync(folder)).toBe(false);
    expect(seen(prepared.exact(true), [1])).toBe('[[],[1]]');
  });

  it('are all there is: another one is a bug', async () => {
    const prepared = await prepareSchemas(listOf({ type: 'string' }), undefined);
    expect(() => prepared.exact({ type: 'number' })).toThrow('not in the list');
  });
});

function storedFile(folder: string): string {
  const [name = 'none', ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  return join(folder, name);
}

function sealed(code: string): string {
  return `${createHash('sha256').update(code).digest('hex')}\n${code}`;
}

const NAMES = ['a', 'b', 'a/b', '~', 'toString', 'constructor', '', "it's", 'ü'] as const;

function arbitraryValue(): fc.Arbitrary<unknown> {
  const leaf = fc.oneof(
    fc.constantFrom(null, true, false, 0, -0, 1, 2.5, 1e21, 'a', 'ab', '😀', '2026-01-01'),
    fc.string(),
    fc.integer(),
  );
  return fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value;
}

/** Schemas of any keywords in any combination: most compile, and those that do not must fail alike. */
function arbitrarySchema(): fc.Arbitrary<Schema> {
  const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object');
  const name = fc.constantFrom(...NAMES);
  const count = fc.integer({ min: 0, max: 3 });
  return fc.letrec<{ schema: Schema }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.boolean(),
      fc.record(
        {
          type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
          enum: fc.uniqueArray(arbitraryValue(), {
            minLength: 1,
            maxLength: 3,
            selector: (value) => JSON.stringify(value),
          }),
          const: arbitraryValue(),
          default: arbitraryValue(),
          minimum: count,
          exclusiveMaximum: count,
          multipleOf: fc.constantFrom(1, 0.5, 3),
          minLength: count,
          maxLength: count,
          pattern: fc.constantFrom('^a', '[0-9]+$', "'", '\\u{1F600}'),
          format: fc.constantFrom('date', 'email', 'uuid', 'unknown'),
          properties: fc.dictionary(name, tie('schema'), { maxKeys: 3, noNullPrototype: true }),
          patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$'), tie('schema'), {
            maxKeys: 2,
            noNullPrototype: true,
          }),
          additionalProperties: tie('schema'),
          unevaluatedProperties: tie('schema'),
          propertyNames: tie('schema'),
          required: fc.uniqueArray(name, { maxLength: 3 }),
          minProperties: count,
          prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          items: tie('schema'),
          contains: tie('schema'),
          uniqueItems: fc.boolean(),
          maxItems: count,
          allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          not: tie('schema'),
          if: tie('schema'),
          // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
          then: tie('schema'),
          $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/b'),
          $defs: fc.record({ a: tie('schema') }),
        },
        { requiredKeys: [] },
      ),
    ),
  })).schema;
}
