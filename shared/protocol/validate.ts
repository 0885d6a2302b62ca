import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

import { INDEX_SCHEMA } from './indexSchema.ts';
import type { Issue } from './messages.ts';
import { PROTOCOL_SCHEMA } from './schema.ts';

/** What can be validated: the protocol's messages and the index file with its parts. */
const REFERENCES = {
  request: 'packgate:protocol#/$defs/request',
  response: 'packgate:protocol#/$defs/response',
  callContext: 'packgate:protocol#/$defs/callContext',
  info: 'packgate:protocol#/$defs/info',
  index: 'packgate:index',
  tool: 'packgate:index#/$defs/tool',
  guardrail: 'packgate:index#/$defs/guardrail',
  agent: 'packgate:index#/$defs/agent',
  flow: 'packgate:index#/$defs/flow',
} as const;

export type SchemaName = keyof typeof REFERENCES;

let ajv: Ajv2020 | undefined;
const compiled = new Map<SchemaName, ValidateFunction>();

/** All issues of `value` under one of our own schemas; empty when it fits. Compiled once, at the first use of a name. */
export function validate(name: SchemaName, value: unknown): readonly Issue[] {
  const check = compiled.get(name) ?? compile(name);
  if (check(value)) return [];
  return (check.errors ?? []).map(({ instancePath, schemaPath, keyword, params, message }) => ({
    instancePath,
    schemaPath,
    keyword,
    params: params as Record<string, unknown>,
    message: message ?? keyword,
  }));
}

/** Issues as one line for people: `/tools/0/id must be string; …`. */
export function issueText(issues: readonly Issue[]): string {
  return issues.map(({ instancePath, message }) => `${instancePath} ${message}`.trim()).join('; ');
}

function compile(name: SchemaName): ValidateFunction {
  ajv ??= createAjv();
  const check = ajv.getSchema(REFERENCES[name]);
  if (check === undefined) throw new Error(`no schema ${REFERENCES[name]}`);
  compiled.set(name, check);
  return check;
}

/** The schemas are ours and known to be right, so they are not held against the meta-schema, which costs 60 ms. */
function createAjv(): Ajv2020 {
  const created = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, validateSchema: false });
  formats.default(created);
  created.addSchema(PROTOCOL_SCHEMA).addSchema(INDEX_SCHEMA);
  return created;
}
