// A small pack, once in JavaScript and once in TypeScript: six tools and a guardrail without dependencies, with the kinds
// of schemas that packs have.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const text = (more = {}) => ({ type: 'string', minLength: 1, maxLength: 500, ...more });
const object = (properties, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const line = object(
  { item: text(), quantity: { type: 'integer', minimum: 1, default: 1 }, price: { type: 'number' } },
  ['item', 'price'],
);
const address = object({ street: text(), city: text(), country: { type: 'string', pattern: '^[A-Z]{2}$' } });
const message = object({ message: text() });

/** By name: what goes in, what comes out, and the body of the handler. */
const TOOLS = {
  echo: { input: message, output: message, body: 'return { message: input.message };' },
  search: {
    input: object(
      {
        query: text(),
        limit: { type: 'integer', default: 10, maximum: 100 },
        sort: { enum: ['date', 'rank'], default: 'rank' },
      },
      ['query'],
    ),
    output: object({ limit: { type: 'integer' }, sort: { type: 'string' }, found: { type: 'array', items: text() } }),
    body: 'return { limit: input.limit, sort: input.sort, found: [input.query] };',
  },
  order: {
    input: object(
      {
        lines: { type: 'array', items: line, minItems: 1, maxItems: 50 },
        to: address,
        note: { anyOf: [text(), { type: 'null' }] },
      },
      ['lines', 'to'],
    ),
    output: object({ total: { type: 'number' } }),
    body: 'return { total: input.lines.reduce((sum, { quantity, price }) => sum + quantity * price, 0) };',
  },
  book: {
    input: object({ at: text({ format: 'date-time' }), mail: text({ format: 'email' }) }),
    output: object({ id: text({ format: 'uuid' }) }),
    body: "return { id: '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b' };",
  },
  tag: {
    input: object({ labels: { type: 'array', items: text({ maxLength: 20 }), uniqueItems: true } }),
    output: object({ count: { type: 'integer' } }),
    body: 'return { count: input.labels.length };',
  },
  pick: {
    input: {
      oneOf: [
        object({ kind: { const: 'id' }, id: { type: 'integer' } }),
        object({ kind: { const: 'name' }, name: text() }),
      ],
    },
    output: object({ kind: text() }),
    body: 'return { kind: input.kind };',
  },
};

/** What the benchmark calls: a plain tool, and one with defaults to fill in that nobody called before. */
export const CALLS = {
  echo: { tool: 'bench.echo', input: { message: 'hello' } },
  search: { tool: 'bench.search', input: { query: 'hello' } },
};

/** Writes the pack into a folder, in `mjs` or in `ts`. */
export function writePack(folder, ending) {
  const type = ending === 'ts' ? ': any' : '';
  const write = (name, contents) => {
    const file = join(folder, `${name}.${ending}`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
  };
  write('kindgi.config', "export default { pack: { id: 'bench', version: '1.0.0' } };\n");
  for (const [name, { input, output, body }] of Object.entries(TOOLS)) {
    const facts = JSON.stringify(
      { id: `bench.${name}`, version: '1.0.0', description: `Does ${name}.`, input, output },
      null,
      2,
    );
    write(
      `tools/${name}`,
      `const facts = ${facts};\n\nexport default { ...facts, handler: (input${type}) => { ${body} } };\n`,
    );
  }
  write(
    'guardrails/short',
    `export default {
  id: 'bench.short',
  kind: 'output',
  action: { 'on-violation': 'block' },
  check: {
    id: 'bench.checks.short',
    configSchema: ${JSON.stringify(object({ max: { type: 'integer', minimum: 1 } }))},
    evaluate: (config${type}, trace${type}) => ({ passed: JSON.stringify(trace).length <= config.max }),
  },
  config: { max: 1000 },
};
`,
  );
}
