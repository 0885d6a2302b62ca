const text = { type: 'string', minLength: 1 };
const anything = { type: 'object' };
const count = { type: 'integer', minimum: 1 };
/** An exact version: what a run pins must mean the same for ever. */
const exactVersion = { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$' };
const mapping = { type: 'object', propertyNames: { minLength: 1 }, additionalProperties: { $ref: '#/$defs/operand' } };

/** An object with these fields and no others; a name that ends in `?` may be missing. */
function closed(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name.replace('?', ''), schema]),
  );
  const required = Object.keys(fields).filter((name) => !name.endsWith('?'));
  return { type: 'object', properties, required, additionalProperties: false };
}

/** Exactly one of several closed objects, told apart by `tag`, so that issues are about the one that was meant. */
function variants(tag: string, names: readonly string[]): Record<string, unknown> {
  const oneOf = names.map((name) => ({ $ref: `#/$defs/${name}` }));
  return { type: 'object', required: [tag], discriminator: { propertyName: tag }, oneOf };
}

const loop = {
  id: text,
  kind: { const: 'loop' },
  body: closed({
    nodes: { type: 'array', minItems: 1, items: { $ref: '#/$defs/node' } },
    edges: {
      type: 'array',
      items: closed({ id: text, from: text, to: text, 'when?': { $ref: '#/$defs/expression' } }),
    },
  }),
  maxIterations: { type: 'integer', minimum: 1, maximum: 10_000 },
  outputSchema: anything,
  'collectAllIterations?': { type: 'boolean' },
};

/**
 * What a flow consists of, as JSON Schema with Ajv's `discriminator` (F6). Closed like the runtime's own: what it does
 * not know it refuses when the flow is deployed, and that is too late. Relations between the parts are `flowProblems`'.
 */
export const FLOW_SCHEMA = {
  ...closed({
    '$schema?': { type: 'string' },
    id: text,
    version: exactVersion,
    'name?': { type: 'string' },
    'description?': { type: 'string' },
    nodes: { type: 'array', minItems: 1, items: { $ref: '#/$defs/node' } },
    edges: {
      type: 'array',
      items: closed({
        id: text,
        from: text,
        to: text,
        'when?': { $ref: '#/$defs/expression' },
        'policy?': { $ref: '#/$defs/policy' },
      }),
    },
    'metadata?': anything,
    'maxParallelism?': count,
    'output?': closed({ mapping, 'schema?': anything }),
  }),
  $defs: {
    node: variants('kind', ['leaf', 'loop', 'fanout', 'subgraph']),
    leaf: closed({
      id: text,
      kind: { enum: ['tool', 'agent'] },
      ref: text,
      'config?': anything,
      'inputMapping?': mapping,
    }),
    loop: {
      type: 'object',
      properties: { kind: { const: 'loop' } },
      ...variants('loopKind', ['while', 'foreach']),
      required: ['kind', 'loopKind'],
    },
    while: closed({
      ...loop,
      loopKind: { const: 'while' },
      exitCondition: { $ref: '#/$defs/expression' },
      'evaluationTiming?': { enum: ['before', 'after'] },
    }),
    foreach: closed({
      ...loop,
      loopKind: { const: 'foreach' },
      iterateOver: { $ref: '#/$defs/operand' },
      'concurrency?': { type: 'integer', minimum: 1, maximum: 32 },
    }),
    fanout: closed({
      id: text,
      kind: { const: 'fanout' },
      branches: {
        type: 'array',
        minItems: 2,
        items: closed({ branchId: text, handler: text, outputSchema: anything }),
      },
      convergence: { enum: ['all-succeed', 'any-succeed', 'settle-all'] },
      'concurrency?': count,
    }),
    subgraph: closed({
      id: text,
      kind: { const: 'subgraph' },
      flowRef: closed({ flowId: text, version: exactVersion }),
      inputMapping: mapping,
      outputSchema: anything,
      convergence: { enum: ['success-only', 'settle-all'] },
    }),
    policy: closed({
      'retry?': {
        ...closed({
          maxAttempts: { type: 'integer', minimum: 1, maximum: 10 },
          'delayMs?': { type: 'integer', minimum: 0 },
          'backoff?': { enum: ['fixed', 'linear', 'exponential'] },
          'maxDelayMs?': { type: 'integer', minimum: 0 },
        }),
        // Without a ceiling the delay would double for ever.
        if: { properties: { backoff: { const: 'exponential' } }, required: ['backoff'] },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        then: { required: ['maxDelayMs'] },
      },
      'timeoutMs?': { type: 'integer', minimum: 1, maximum: 3_600_000 },
      'concurrencyKey?': { type: 'string', maxLength: 256, pattern: '^[\\x20-\\x7e]+$' },
      'priority?': { type: 'integer', minimum: -100, maximum: 100 },
    }),
    expression: variants('op', ['comparison', 'membership', 'test', 'junction', 'negation']),
    comparison: closed({
      op: { enum: ['eq', 'ne', 'lt', 'lte', 'gt', 'gte'] },
      left: { $ref: '#/$defs/operand' },
      right: { $ref: '#/$defs/operand' },
    }),
    membership: closed({
      op: { enum: ['in', 'notIn'] },
      value: { $ref: '#/$defs/operand' },
      set: { $ref: '#/$defs/operand' },
    }),
    test: closed({ op: { enum: ['exists', 'notExists', 'truthy', 'falsy'] }, value: { $ref: '#/$defs/operand' } }),
    junction: closed({
      op: { enum: ['and', 'or'] },
      children: { type: 'array', minItems: 1, items: { $ref: '#/$defs/expression' } },
    }),
    negation: closed({ op: { const: 'not' }, child: { $ref: '#/$defs/expression' } }),
    /** A value as it is, or a path into what the run has so far. */
    operand: {
      ...closed({
        'literal?': true,
        'path?': {
          type: 'string',
          pattern:
            '^(runInput|state|nodeOutputs\\.[A-Za-z0-9_.-]+|iterationIndex|iterationOutput)(\\.[A-Za-z0-9_-]+)*$',
        },
      }),
      minProperties: 1,
      maxProperties: 1,
    },
  },
} as const;
