import assert from 'node:assert/strict';
import { ECHO, invoke } from '../client/call.ts';
import { errorOf } from '../client/message.ts';
import { httpClause } from '../clause.ts';
import type { Issue } from '../../protocol/messages.ts';
import type { Service } from '../service.ts';

const KEYWORDS = 'conformance.keywords';
const EVEN = 'conformance.even';

/** Per keyword: a field and a value that fails it, and the parameters of the issue. */
const FAILURES = [
  ['type', 'single', 'x', { type: 'integer' }],
  ['enum', 'colour', 'blue', { allowedValues: ['red', 'green'] }],
  ['const', 'fixed', 'no', { allowedValue: 'yes' }],
  ['minLength', 'long', 'ab', { limit: 3 }],
  ['maxLength', 'short', 'abc', { limit: 2 }],
  ['minItems', 'some', [], { limit: 1 }],
  ['maxItems', 'few', ['a', 'b'], { limit: 1 }],
  ['minProperties', 'filled', {}, { limit: 1 }],
  ['maxProperties', 'sparse', { a: 1, b: 2 }, { limit: 1 }],
  ['minimum', 'least', 4, { comparison: '>=', limit: 5 }],
  ['maximum', 'most', 6, { comparison: '<=', limit: 5 }],
  ['exclusiveMinimum', 'above', 5, { comparison: '>', limit: 5 }],
  ['exclusiveMaximum', 'below', 5, { comparison: '<', limit: 5 }],
  ['pattern', 'code', 'A1', { pattern: '^[a-z]+$' }],
  ['format', 'mail', 'no mail', { format: 'email' }],
  ['multipleOf', 'step', 4, { multipleOf: 3 }],
] as const;

async function issuesOf(service: Service, toolId: string, input: unknown): Promise<readonly Issue[]> {
  return errorOf(await invoke(service, toolId, input), 'input-validation-failed', { toolId }).issues ?? [];
}

/** Group D: issues of a failed validation. */
export const issues = [
  httpClause(
    'D17/shape',
    "a schema's issue has pointer, message, schema path, keyword and parameters",
    async (service) => {
      const [issue, ...more] = await issuesOf(service, ECHO, { message: '' });
      assert.deepEqual(more, []);
      assert.ok(issue);
      const { message, ...facts } = issue;
      assert.ok(message.length > 0);
      assert.deepEqual(facts, {
        instancePath: '/message',
        schemaPath: '#/properties/message/minLength',
        keyword: 'minLength',
        params: { limit: 1 },
      });
    },
  ),

  httpClause('D17/pointer', 'the place is a JSON pointer, with its escapes, and empty at the root', async (service) => {
    const [root] = await issuesOf(service, ECHO, 'x');
    assert.equal(root?.instancePath, '');
    const paths = (await issuesOf(service, KEYWORDS, { needed: 'x', 'odd/name~': 'x', few: [7] })).map(
      ({ instancePath }) => instancePath,
    );
    assert.deepEqual([...paths].sort(), ['/few/0', '/odd~1name~0']);
  }),

  httpClause('D18/params', 'every keyword gives its own parameters', async (service) => {
    for (const [keyword, field, value, params] of FAILURES) {
      const found = await issuesOf(service, KEYWORDS, { needed: 'x', [field]: value });
      assert.deepEqual(
        found.map((issue) => [issue.instancePath, issue.keyword, issue.params]),
        [[`/${field}`, keyword, params]],
      );
    }
  }),

  httpClause('D18/type-list', 'several types are given as one text, joined by commas', async (service) => {
    const found = await issuesOf(service, KEYWORDS, { needed: 'x', either: 7 });
    assert.deepEqual(
      found.map(({ instancePath, keyword, params }) => [instancePath, keyword, params]),
      [['/either', 'type', { type: 'string,null' }]],
    );
  }),

  httpClause('D18/unique-items', 'equal items are one `uniqueItems` issue', async (service) => {
    const found = await issuesOf(service, KEYWORDS, { needed: 'x', set: ['a', 'b', 'a'] });
    assert.deepEqual(
      found.map(({ instancePath, keyword }) => [instancePath, keyword]),
      [['/set', 'uniqueItems']],
    );
  }),

  httpClause('D18/all', 'all issues are told: one per missing and per extra property', async (service) => {
    const found = await issuesOf(service, KEYWORDS, { single: 'x', one: 1, two: 2, long: 'a' });
    const facts = found.map(({ instancePath, keyword, params }) => JSON.stringify([instancePath, keyword, params]));
    assert.deepEqual(facts.sort(), [
      JSON.stringify(['', 'additionalProperties', { additionalProperty: 'one' }]),
      JSON.stringify(['', 'additionalProperties', { additionalProperty: 'two' }]),
      JSON.stringify(['', 'required', { missingProperty: 'needed' }]),
      JSON.stringify(['/long', 'minLength', { limit: 3 }]),
      JSON.stringify(['/single', 'type', { type: 'integer' }]),
    ]);
  }),

  httpClause(
    'D19/model',
    "an issue of the model's own validation has no keyword",
    async (service) => {
      const [issue, ...more] = await issuesOf(service, EVEN, { number: 3 });
      assert.deepEqual(more, []);
      assert.ok(issue);
      assert.equal(issue.instancePath, '/number');
      assert.match(issue.message, /must be even/);
      assert.equal(issue.keyword, undefined);
    },
    ['D17', 'F9'],
  ),
];
