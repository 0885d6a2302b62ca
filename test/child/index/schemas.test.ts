import { afterEach, describe, expect, test } from 'vitest';

import type { Folder } from '../support/folder.ts';
import { guardrailModule, indexPack, linkPackages, newPack, readIndex, toolModule } from './indexing.ts';

let pack: Folder;
afterEach(() => pack.remove());

describe('schemas in an index', () => {
  test('F3: a field for Zod comes first, a plain schema is copied as it is', async () => {
    const zod = `import { z } from 'zod';\n`;
    pack = newPack({
      'tools/a.mjs':
        zod +
        toolModule(
          'acme.a',
          `inputZod: z.object({ n: z.int().default(1) }), input: { title: 'no' }, output: z.string()`,
        ),
      'tools/b.mjs': toolModule(
        'acme.b',
        `input: { type: 'object', 'x-mine': [1], properties: {} }, inputZod: { not: 'Zod' }, output: {}`,
      ),
    });
    linkPackages(pack);
    expect((await indexPack(pack)).fileErrors).toEqual([]);
    const [a, b] = readIndex(pack).tools;
    const dialect = 'https://json-schema.org/draft/2020-12/schema';
    expect(a?.input).toMatchObject({ $schema: dialect, properties: { n: { default: 1, type: 'integer' } } });
    expect(a?.output).toEqual({ $schema: dialect, type: 'string' });
    expect(b?.input).toEqual({ type: 'object', 'x-mine': [1], properties: {} });
  });

  test('F3: what has a default is optional on its way in, and there on its way out', async () => {
    const source = `import { z } from 'zod';\nconst model = z.object({ n: z.int().default(1) });\n`;
    pack = newPack({ 'tools/a.mjs': source + toolModule('acme.a', 'input: model, output: model') });
    linkPackages(pack);
    await indexPack(pack);
    const [tool] = readIndex(pack).tools;
    expect(tool?.input).not.toHaveProperty('required');
    expect(tool?.output).toMatchObject({ required: ['n'] });
  });

  test.each([
    [
      'configZod',
      `configZod: z.object({ own: z.string() }), check: { id: 'acme.c', configZod: z.object({ no: z.int() }), evaluate() {} }`,
    ],
    [
      'check.configZod',
      `configSchema: { title: 'no' }, check: { id: 'acme.c', configZod: z.object({ own: z.string() }), evaluate() {} }`,
    ],
    [
      'configSchema',
      `configSchema: { properties: { own: {} } }, check: { id: 'acme.c', configSchema: { title: 'no' }, evaluate() {} }`,
    ],
    [
      'check.configSchema',
      `check: { id: 'acme.c', configSchema: { properties: { own: {} } }, configJsonSchema: { title: 'no' }, evaluate() {} }`,
    ],
    ['check.configJsonSchema', `check: { id: 'acme.c', configJsonSchema: { properties: { own: {} } }, evaluate() {} }`],
  ])('F4: a config schema is found in %s', async (_place, fields) => {
    const source = `import { z } from 'zod';\nexport const unused = z;\n`;
    pack = newPack({ 'guardrails/a.mjs': source + guardrailModule('acme.a', `${fields}, config: { own: 'x' }`) });
    linkPackages(pack);
    expect((await indexPack(pack)).fileErrors).toEqual([]);
    expect(readIndex(pack).guardrails).toEqual([
      expect.objectContaining({
        checkId: 'acme.c',
        configSchema: expect.objectContaining({ properties: { own: expect.anything() } }),
      }),
    ]);
  });

  test('F5: without Zod where the pack could import it, ours converts what was bundled with the pack', async () => {
    // As a bundle that has its Zod inside: the module's own import leads to a file, not to a package.
    const zod = new URL('../../../node_modules/zod/index.js', import.meta.url).href;
    pack = newPack({
      'tools/a.mjs': `import { z } from '${zod}';\n${toolModule('acme.a', 'input: z.object({}), output: z.string()')}`,
    });
    expect((await indexPack(pack)).fileErrors).toEqual([]);
    expect(readIndex(pack).tools[0]?.output).toMatchObject({ type: 'string' });
  });

  const STRICT_REFUSES: readonly (readonly [string, object])[] = [
    ['an unknown keyword', { type: 'object', colour: 'red' }],
    ['an unknown format', { type: 'string', format: 'colour' }],
    ['another draft', { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }],
    ['an undeclared required property', { type: 'object', required: ['a'] }],
    ['a keyword without its type', { minimum: 1 }],
    ['a default inside anyOf', { anyOf: [{ type: 'object', properties: { a: { type: 'string', default: 'x' } } }] }],
  ];

  test.each(STRICT_REFUSES)('F10 F11 F12: %s is indexed, with a warning for strict services', async (_what, schema) => {
    pack = newPack({ 'tools/a.mjs': toolModule('acme.a', `input: ${JSON.stringify(schema)}, output: {}`) });
    const { fileErrors, warnings } = await indexPack(pack);
    expect(fileErrors).toEqual([]);
    expect(warnings).toEqual([
      expect.objectContaining({ code: 'schema-not-strict', field: 'input', filePath: 'tools/a.mjs' }),
    ]);
    expect(readIndex(pack).tools[0]?.input).toEqual(schema);
  });

  test.each([
    ['a bad pattern', { type: 'string', pattern: '(' }],
    ['a list of items', { type: 'array', items: [{ type: 'string' }] }],
  ])('F10 F11: %s compiles in no service, which is warned of', async (_what, schema) => {
    pack = newPack({ 'tools/a.mjs': toolModule('acme.a', `input: ${JSON.stringify(schema)}, output: {}`) });
    const { warnings } = await indexPack(pack);
    expect(warnings).toEqual([expect.objectContaining({ code: 'schema-does-not-compile', field: 'input' })]);
  });

  test('F12: two tools may share a model with an $id', async () => {
    const fields = `input: { $id: 'https://example.com/model', type: 'object' }, output: {}`;
    pack = newPack({ 'tools/a.mjs': toolModule('acme.a', fields), 'tools/b.mjs': toolModule('acme.b', fields) });
    expect(await indexPack(pack)).toMatchObject({ code: 0, fileErrors: [], warnings: [] });
  });

  test('F14: an input that is no object is indexed as it is', async () => {
    pack = newPack({ 'tools/a.mjs': toolModule('acme.a', `input: { type: 'string' }, output: {}`) });
    expect(await indexPack(pack)).toMatchObject({ fileErrors: [], warnings: [] });
    expect(readIndex(pack).tools[0]?.input).toEqual({ type: 'string' });
  });
});
