/** Version of the index file's envelope (E1). */
export const INDEX_VERSION = 1;

const text = { type: 'string', minLength: 1 };
const object = { type: 'object' };
const flag = { type: 'boolean' };
const reference = { type: 'object', properties: { id: text, version: text }, required: ['id', 'version'] };
/** Where a primitive's code lies: relative to the pack's folder, forward slashes, no leading `./`, never outside (E7). */
const modulePath = { type: 'string', pattern: '^(?!/)(?!\\.{1,2}(/|$))(?!.*/\\.{1,2}(/|$))[^\\\\]+$' };
const schema = { type: ['object', 'boolean'] };

/**
 * A pack's index file, envelope version 1 (E1–E9), as JSON Schema draft 2020-12. The envelope allows no other keys;
 * entries and what is nested in them are open, because a reader tolerates what newer indexers write (E9).
 */
export const INDEX_SCHEMA = {
  $id: 'packgate:index',
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    v: { const: INDEX_VERSION },
    packId: text,
    packVersion: text,
    // It travels in a header of every answer (A11).
    artifactVersion: { type: 'string', pattern: '^[\\x20-\\x7e]+$' },
    publishedAt: { type: 'string', format: 'date-time' },
    env: { $ref: '#/$defs/env' },
    tools: { type: 'array', items: { $ref: '#/$defs/tool' } },
    guardrails: { type: 'array', items: { $ref: '#/$defs/guardrail' } },
    agents: { type: 'array', items: { $ref: '#/$defs/agent' } },
    flows: { type: 'array', items: { $ref: '#/$defs/flow' } },
  },
  required: ['v', 'packId', 'packVersion', 'artifactVersion', 'publishedAt', 'tools', 'guardrails', 'agents', 'flows'],
  additionalProperties: false,
  $defs: {
    /** Sorting and disjointness are the indexer's to keep (E2). */
    env: {
      type: 'object',
      properties: { required: { $ref: '#/$defs/envNames' }, optional: { $ref: '#/$defs/envNames' } },
      required: ['required', 'optional'],
      additionalProperties: false,
    },
    envNames: {
      type: 'array',
      items: { type: 'string', pattern: '^(?!KINDGI_)[A-Za-z_][A-Za-z0-9_]*$' },
      uniqueItems: true,
    },
    tool: {
      type: 'object',
      properties: {
        id: text,
        input: schema,
        output: schema,
        modulePath,
        description: { type: 'string' },
        version: text,
        effects: { type: 'array', items: object },
        needs: { type: 'array', items: object },
        needsSpec: object,
        sandbox: { type: 'string' },
        limits: object,
        network: object,
        mutating: flag,
        needsApprovalWhenUnattended: flag,
        spec: object,
        pauses: flag,
        storesFiles: flag,
        readsFiles: flag,
      },
      required: ['id', 'input', 'output', 'modulePath'],
    },
    guardrail: {
      type: 'object',
      properties: {
        id: text,
        kind: text,
        action: { type: 'object', properties: { 'on-violation': true }, required: ['on-violation'] },
        checkModulePath: modulePath,
        name: { type: 'string' },
        severity: { type: 'string' },
        scope: object,
        checkId: text,
        checkBuiltIn: { const: true },
        configSchema: schema,
        config: object,
        sandbox: { type: 'string' },
        limits: object,
        network: object,
      },
      required: ['id', 'kind', 'action', 'checkModulePath'],
    },
    agent: {
      type: 'object',
      properties: {
        id: text,
        version: text,
        name: text,
        instructions: {
          anyOf: [
            { type: 'string' },
            { type: 'object', properties: { prompt: text, version: text }, required: ['prompt', 'version'] },
          ],
        },
        capabilities: { type: 'array' },
        tools: { type: 'array', items: reference },
        modulePath,
        retrieval: { type: 'array' },
        guardrails: { type: 'array', items: { type: 'string' } },
        settings: { type: 'array', items: reference },
        modelSettings: reference,
        budget: object,
        parameters: { type: 'array' },
        preferredProvider: { type: 'string' },
        preferredModel: { type: 'string' },
        description: { type: 'string' },
        tags: { type: 'array', items: { type: 'string' } },
        conversationPolicy: object,
        output: object,
        toolErrors: object,
        memory: object,
      },
      required: ['id', 'version', 'name', 'instructions', 'capabilities', 'tools', 'modulePath'],
    },
    flow: {
      type: 'object',
      properties: {
        id: text,
        version: text,
        nodes: { type: 'array', items: object },
        edges: { type: 'array', items: object },
        kernelPayloadVersion: { const: 1 },
        modulePath,
        name: { type: 'string' },
        description: { type: 'string' },
        maxParallelism: { type: 'integer', minimum: 1 },
        metadata: object,
        output: object,
      },
      required: ['id', 'version', 'nodes', 'edges', 'kernelPayloadVersion', 'modulePath'],
    },
  },
} as const;

/** Built-in checks of the runtime: naming one as a string is its use, shipping one under its id an error (E8). */
export const BUILT_IN_CHECKS: ReadonlySet<string> = new Set([
  'must-cite',
  'never-call-tool',
  'max-tool-calls',
  'output-matches',
  'tool-order',
  'required-substring',
  'forbidden-substring',
]);
