/** A file with a mistake in it, and what its author is told. */
export interface Mistake {
  readonly contents: string;
  readonly code: string;
  /** Words of the message, in their order. */
  readonly told: readonly string[];
}

const tool = (more: string): string =>
  `export default {\n  id: 'acme.tool',\n  input: { type: 'object' },\n  output: {},\n  handler: () => 1,\n  ${more}\n};\n`;
const guardrail = (more: string): string =>
  `export default { id: 'acme.rule', kind: 'deterministic', action: { 'on-violation': 'block' }, ${more} };\n`;

/** What files with mistakes import. */
export const HELPERS: Readonly<Record<string, string>> = {
  'lib/db.ts': `export function connect(url: string): never {\n  throw new Error(\`no database at \${url}\`);\n}\n`,
  'lib/names.mjs': `export const name = 'x';\n`,
  'tools/a-right-one.mjs': tool(`version: '1.0.0'`),
  'guardrails/a-right-one.mjs': guardrail(`check: { id: 'acme.checks.rule', evaluate: () => true }`),
};

/** Files that are kept out of the index, by path; each has one mistake. */
export const MISTAKES: Readonly<Record<string, Mistake>> = {
  'tools/no-default.mjs': {
    contents: `export const tool = { id: 'acme.x' };\n`,
    code: 'no-default-export',
    told: [
      'tools/no-default.mjs: nothing is exported as default',
      'export default {',
      'begin the name of a helper with "_"',
    ],
  },
  'tools/is-an-agent.mjs': {
    contents: `export default { id: 'acme.a', version: '1.0.0', name: 'A', instructions: 'i', capabilities: [], tools: [] };\n`,
    code: 'kind-mismatch',
    told: ['tools/is-an-agent.mjs: expected a tool in tools/, found an agent', 'move it to agents/'],
  },
  'tools/syntax.mjs': {
    contents: `export default {\n  id: 'acme' x,\n};\n`,
    code: 'file-import-failed',
    told: ['tools/syntax.mjs:2:14: SyntaxError: Expected "}" but found "x"'],
  },
  'tools/syntax-in-typescript.ts': {
    contents: `const id: string = 'acme';\nexport default { id, input: {} as };\n`,
    code: 'file-import-failed',
    told: ['tools/syntax-in-typescript.ts:2:35: SyntaxError: Unexpected "}"'],
  },
  'tools/throws.mjs': {
    contents: `const table = undefined;\n\nexport default table.row;\n`,
    code: 'file-import-failed',
    told: ['tools/throws.mjs:3:22: TypeError: Cannot read properties of undefined'],
  },
  'tools/throws-in-a-helper.ts': {
    contents: `import { connect } from '../lib/db';\n\nexport default connect('db.example');\n`,
    code: 'file-import-failed',
    told: ['tools/throws-in-a-helper.ts: Error: no database at db.example', '(at lib/db.ts:2:9)'],
  },
  'tools/throws-a-text.mjs': {
    contents: `throw 'not today';\n`,
    code: 'file-import-failed',
    told: ['tools/throws-a-text.mjs: it throws not today'],
  },
  'tools/missing-package.mjs': {
    contents: `// A comment.\nimport pad from '@acme/left-pad/sub.js';\n\nexport default pad;\n`,
    code: 'file-import-failed',
    told: ['tools/missing-package.mjs:2: ', "Cannot find package '@acme/left-pad'", 'npm install @acme/left-pad'],
  },
  'tools/missing-package-in-typescript.ts': {
    contents: `import pad from 'left-pad-of-nobody';\n\nexport default pad;\n`,
    code: 'file-import-failed',
    told: ['tools/missing-package-in-typescript.ts:1:17: ', 'npm install left-pad-of-nobody'],
  },
  'tools/missing-file.mjs': {
    contents: `import { name } from '../lib/nams.mjs';\n\nexport default name;\n`,
    code: 'file-import-failed',
    told: [
      'tools/missing-file.mjs:1: ',
      "Cannot find module 'lib/nams.mjs'",
      'check the path and the ending of the file',
    ],
  },
  'tools/missing-export.mjs': {
    contents: `import { nam } from '../lib/names.mjs';\n\nexport default nam;\n`,
    code: 'file-import-failed',
    told: ['tools/missing-export.mjs:1:10: SyntaxError: No matching export in "lib/names.mjs" for import "nam"'],
  },
  'tools/never-settles.mjs': {
    contents: `await new Promise(() => {});\n${tool('')}`,
    code: 'file-import-failed',
    told: ['tools/never-settles.mjs: ', 'a top-level await', 'never settles', 'wait for it in the handler instead'],
  },
  'tools/requires.js': {
    contents: `const fs = require('node:fs');\nmodule.exports = fs;\n`,
    code: 'file-import-failed',
    told: [
      'tools/requires.js:1:12: ReferenceError: require is not defined in ES module scope',
      "'.cjs' file extension",
    ],
  },
  'tools/ends-the-process.mjs': {
    contents: `\nprocess.exit(0);\n`,
    code: 'file-import-failed',
    told: ['tools/ends-the-process.mjs:2:9: ', 'process.exit(0) is called while the module loads'],
  },
  'tools/bare-function.mjs': {
    contents: `export default (input) => input;\n`,
    code: 'ambiguous-kind',
    told: ['tools/bare-function.mjs: ', 'a bare function', 'an object with `handler` and `input`'],
  },
  'tools/mistyped-handler.mjs': {
    contents: `export default { id: 'acme.x', input: {}, output: {}, handle: () => 1 };\n`,
    code: 'ambiguous-kind',
    told: ['tools/mistyped-handler.mjs: its default export is no primitive', 'a tool has `handler` and `input`'],
  },
  'tools/failed-result.mjs': {
    contents: `export default { kind: 'err', error: { code: 'bad-id', message: 'the id has a blank in it' } };\n`,
    code: 'manifest-validation-failed',
    told: ['tools/failed-result.mjs: its default export is a failed Result: the id has a blank in it'],
  },
  'tools/wrong-fields.mjs': {
    contents: tool(`version: 2,\n  mutating: 'no',\n  effects: {},`),
    code: 'manifest-validation-failed',
    told: [
      'tools/wrong-fields.mjs: ',
      '/version must be string',
      '/effects must be array',
      '/mutating must be boolean',
    ],
  },
  'tools/without-schemas.mjs': {
    contents: `export default { id: 'acme.x', input: true, handler: () => 1 };\n`,
    code: 'manifest-validation-failed',
    told: ['tools/without-schemas.mjs: ', "must have required property 'output'", '/input must be an object'],
  },
  'tools/no-json.mjs': {
    contents: tool(`limits: { most: 10n },`),
    code: 'manifest-validation-failed',
    told: ['tools/no-json.mjs: it holds what JSON cannot: TypeError: Do not know how to serialize a BigInt'],
  },
  'tools/second-of-its-id.mjs': {
    contents: tool(`version: '1.0.0'`),
    code: 'manifest-validation-failed',
    told: [
      'tools/second-of-its-id.mjs: tool acme.tool@1.0.0 is already in tools/a-right-one.mjs',
      'give it another id or version',
    ],
  },
  'tools/zod-date.mjs': {
    contents: `import { z } from 'zod';\nexport default { id: 'acme.z', inputZod: z.object({ at: z.date() }), outputZod: z.map(z.string(), z.string()), handler: () => 1 };\n`,
    code: 'zod-conversion-failed',
    told: [
      'tools/zod-date.mjs: `inputZod` cannot become JSON Schema: Date',
      '`outputZod` cannot become JSON Schema: Map',
    ],
  },
  'tools/another-model.mjs': {
    contents: `const model = { '~standard': { version: 1, vendor: 'other', validate: () => ({}) } };\n${tool('input: model,')}`,
    code: 'zod-conversion-failed',
    told: ['tools/another-model.mjs: `input` cannot become JSON Schema', 'use Zod 4 or a JSON Schema'],
  },
  'guardrails/reserved-id.mjs': {
    contents: guardrail(`check: { id: 'must-cite', evaluate: () => true }`),
    code: 'reserved-check-id',
    told: [
      'guardrails/reserved-id.mjs: "must-cite" is a built-in check',
      `check: 'must-cite'`,
      'give your own check another id',
    ],
  },
  'guardrails/unfit-config.mjs': {
    contents: guardrail(
      `configSchema: { type: 'object', properties: { least: { type: 'integer' } }, required: ['least'] }, config: { least: 'two' }`,
    ),
    code: 'manifest-validation-failed',
    told: ['guardrails/unfit-config.mjs: config does not fit configSchema: /least must be integer'],
  },
  'flows/circle.mjs': {
    contents: `export default {
  id: 'acme.flow',
  version: '1.0',
  nodes: [{ id: 'a', kind: 'tool', ref: 'acme.tool', retries: 3 }],
  edges: [{ id: 'in', from: '$start', to: 'a' }, { id: 'again', from: 'a', to: 'a' }],
};
`,
    code: 'manifest-validation-failed',
    told: ['flows/circle.mjs: ', '/version must match pattern', '/nodes/0 must not have "retries"'],
  },
};

/** Files that are indexed, with a warning. */
export const WARNED: Readonly<Record<string, Mistake>> = {
  'guardrails/unprefixed.mjs': {
    contents: `export default { id: 'acme.other', kind: 'deterministic', action: { 'on-violation': 'block' }, check: { id: 'rule', evaluate: () => true } };\n`,
    code: 'check-id-unprefixed',
    told: ['guardrails/unprefixed.mjs: check "rule" could collide', 'begin its id with "acme."'],
  },
  'tools/uncompilable.mjs': {
    contents: `export default { id: 'acme.uncompilable', input: { type: 'text' }, output: {}, handler: () => 1 };\n`,
    code: 'schema-does-not-compile',
    told: ['tools/uncompilable.mjs: `input` does not compile, so every call will fail: '],
  },
  'tools/lenient.mjs': {
    contents: `export default { id: 'acme.lenient', input: { type: 'object' }, output: { minimum: 1 }, handler: () => 1 };\n`,
    code: 'schema-not-strict',
    told: ['tools/lenient.mjs: `output` is refused by strict services', 'minimum'],
  },
};
