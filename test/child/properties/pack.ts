import { indexOf, makeFolder, toolEntry } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';

/** A schema with a little of everything that a value can be held against. */
const RICH = {
  type: 'object',
  properties: {
    text: { type: 'string', minLength: 1, maxLength: 5, pattern: '^[a-z]*$', default: 'x' },
    when: { type: 'string', format: 'date-time' },
    mail: { format: 'email' },
    count: { type: 'integer', minimum: 0, multipleOf: 2 },
    list: { type: 'array', items: { $ref: '#' }, uniqueItems: true, maxItems: 3 },
    either: { oneOf: [{ type: 'null' }, { enum: ['a', 1, null] }, { const: { a: 1 } }] },
    inner: { type: 'object', properties: { filled: { default: [1] } }, default: {}, minProperties: 1 },
    not: { not: { type: 'number' } },
  },
  patternProperties: { '^x-': { type: ['string', 'boolean'] } },
  propertyNames: { maxLength: 12 },
  dependentRequired: { count: ['text'] },
  dependentSchemas: { mail: { required: ['when'] } },
  unevaluatedProperties: false,
};

const MODULES = {
  'echo.mjs': 'export default (input) => input;',
  'value.mjs': 'export default (input) => input?.value;',
  'throws.mjs': 'export default (input) => { throw input; };',
  'context.mjs': `
    export default (input, ctx) => {
      ctx.log.info('called', { input, ctx });
      ctx.log.child(ctx).debug(String(Object.keys(ctx)));
      return { ...ctx, secrets: ctx.secrets, connections: ctx.connections };
    };
  `,
  'pause.mjs': 'export default (input, ctx) => ctx.pause(input);',
  'rejects.mjs': 'export default (input, ctx) => { throw ctx.connectionRejected(input); };',
  'files.mjs': 'export default async (input, ctx) => ctx.files.read(input);',
  'check.mjs': 'export const evaluate = (config, trace) => config.verdict ?? trace;',
};

export const TOOLS = ['echo', 'rich', 'value', 'throws', 'context', 'pause', 'rejects', 'files'].map(
  (name) => `acme.${name}`,
);
export const CHECK = 'acme.check';

/** A pack whose handlers do quickly with their input whatever can be done with it. */
export function makePropertyPack(): Folder {
  return makeFolder({
    ...MODULES,
    'index.json': indexOf({
      tools: [
        toolEntry('acme.echo', 'echo.mjs'),
        toolEntry('acme.rich', 'echo.mjs', { input: RICH }),
        toolEntry('acme.value', 'value.mjs', { output: { type: 'object', properties: RICH.properties } }),
        toolEntry('acme.throws', 'throws.mjs'),
        toolEntry('acme.context', 'context.mjs'),
        toolEntry('acme.pause', 'pause.mjs', { pauses: true }),
        toolEntry('acme.rejects', 'rejects.mjs'),
        toolEntry('acme.files', 'files.mjs', { readsFiles: true, storesFiles: true }),
      ],
      guardrails: [
        {
          id: CHECK,
          kind: 'output',
          action: { 'on-violation': 'halt' },
          checkModulePath: 'check.mjs',
          configSchema: { type: 'object', properties: { verdict: true, more: { type: 'number' } } },
        },
      ],
    }),
  });
}
