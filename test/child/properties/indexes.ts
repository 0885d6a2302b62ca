import fc from 'fast-check';

import { indexOf } from '../support/folder.ts';

const json = fc.jsonValue({ maxDepth: 4 });
const mostly = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 30, arbitrary: usual },
    { weight: 1, arbitrary: json },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );

const name = fc.oneof(fc.constantFrom('acme.a', 'acme.b', '__proto__', 'größe', '\ud800', ''), fc.string());
const modulePath = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('echo.mjs', 'value.mjs', 'check.mjs', 'echo.mjs') },
  fc.constantFrom(
    'no-such.mjs',
    '../echo.mjs',
    '/echo.mjs',
    '.',
    'index.json',
    'echo.mjs/x',
    `${'a'.repeat(5000)}.mjs`,
    'a\u0000b.mjs',
    'broken.ts',
    'broken.mjs',
  ),
  fc.string(),
);

/** Schemas that compile, that do not, and that never end. */
const KEYWORDS =
  'type properties items required $ref $id $schema $defs $async $dynamicRef $anchor pattern ' +
  'format enum const oneOf allOf if not default minimum discriminator x patternProperties ' +
  'dependentSchemas unevaluatedProperties prefixItems contains id nullable';
const keyword = fc.constantFrom(...KEYWORDS.split(' '));
const keywordValue = fc.oneof(
  json,
  fc.constantFrom('#', '#/$defs/a', 'http://x/y', 'string', '(', 'date-time', 'nonsense', '%'),
  fc.constantFrom({ a: { $ref: '#' } }, { $ref: '#' }, [{ $ref: '#' }], ['a', 'a'], { a: true }, true, -1, null),
);
const schema = fc.oneof(fc.boolean(), fc.dictionary(keyword, keywordValue, { maxKeys: 4 }));

const tool = fc.record(
  {
    id: mostly(name),
    version: mostly(fc.constantFrom('1.0.0', '2.0.0', '')),
    input: mostly(schema),
    output: mostly(schema),
    modulePath: mostly(modulePath),
    pauses: mostly(fc.boolean()),
    storesFiles: mostly(fc.boolean()),
    readsFiles: mostly(fc.boolean()),
    needsSpec: json,
    description: json,
  },
  { requiredKeys: ['id', 'input', 'output', 'modulePath'] },
);
const guardrail = fc.record(
  {
    id: mostly(name),
    checkId: mostly(name),
    kind: json,
    action: json,
    checkModulePath: mostly(modulePath),
    checkBuiltIn: mostly(fc.boolean()),
    configSchema: mostly(schema),
  },
  { requiredKeys: ['id', 'checkModulePath'] },
);
const envName = fc.oneof(fc.constantFrom('PATH', 'NOT_THERE', '__proto__', 'KINDGI_X', '', 'a=b'), fc.string());
const env = fc.record(
  { required: mostly(fc.array(envName, { maxLength: 3 })), optional: mostly(fc.array(envName, { maxLength: 3 })) },
  { requiredKeys: [] },
);

const envelope = fc
  .record(
    {
      v: mostly(fc.constant(1)),
      packId: mostly(name),
      artifactVersion: mostly(fc.constantFrom('20260101.1', 'a\r\nb', 'größe')),
      tools: mostly(fc.array(tool, { maxLength: 3 })),
      guardrails: mostly(fc.array(guardrail, { maxLength: 2 })),
      env,
      agents: json,
      more: json,
    },
    { requiredKeys: ['tools'] },
  )
  .map((parts) => Buffer.from(JSON.stringify({ ...indexOf(), ...parts })));

/** The bytes of an index file: nearly one, a nested one, one that was cut, or anything. */
export const anyIndex: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 12, arbitrary: envelope },
  { weight: 1, arbitrary: json.map((value) => Buffer.from(JSON.stringify(value))) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.tuple(envelope, fc.nat(600)).map(([bytes, length]) => bytes.subarray(0, length)) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.integer({ min: 1, max: 20_000 }), fc.boolean()).map(([depth, isList]) => {
      const [open, close] = isList ? ['[', ']'] : ['{"not":', '}'];
      const nested = `${open.repeat(depth)}{}${close.repeat(depth)}`;
      const entry = `{"id":"acme.a","input":${nested},"output":true,"modulePath":"echo.mjs"}`;
      return Buffer.from(JSON.stringify(indexOf()).replace('"tools":[]', `"tools":[${entry}]`));
    }),
  },
);
