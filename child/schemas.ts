import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';

import type { Issue } from '../shared/protocol/messages.ts';

/** A JSON Schema, as written by whoever indexed the pack. */
export type Schema = boolean | { readonly [keyword: string]: unknown };

/** A schema ready to use: all issues of a value, none when it fits; or why the schema does not compile. */
export type Checker =
  | { readonly ok: true; readonly check: (value: unknown) => readonly Issue[] }
  | { readonly ok: false; readonly error: Error };

export interface SchemaCompiler {
  /** For values on their way in: missing keys with a default are filled in, in place (D9, F13). */
  input(schema: Schema): Checker;
  /** For values that are judged as they are. */
  exact(schema: Schema): Checker;
}

/**
 * Compiles a pack's schemas as draft 2020-12, leniently: unknown keywords and formats are ignored, because packs indexed
 * elsewhere must run (F12). Patterns run in V8: they can only stall their own pack's process.
 */
export async function createSchemaCompiler({ usesFormats }: { usesFormats: boolean }): Promise<SchemaCompiler> {
  const addFormats = usesFormats ? await loadFormats() : undefined;
  const create = (useDefaults: boolean): Ajv2020 => {
    // The meta-schema is neither compiled nor applied: it costs 60 ms at boot, and a schema that is wrong does not compile.
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      useDefaults,
      logger: false,
      validateFormats: usesFormats,
      validateSchema: false,
      addUsedSchema: false,
    });
    addFormats?.(ajv);
    return ajv;
  };
  const shared = { input: create(true), exact: create(false) };
  const compiler =
    (kind: 'input' | 'exact') =>
    (schema: Schema): Checker => {
      // An `$id` may occur once per Ajv, but several tools of a pack may well share a model.
      const ajv = hasId(schema) ? create(kind === 'input') : shared[kind];
      return compile(ajv, schema);
    };
  return { input: compiler('input'), exact: compiler('exact') };
}

function compile(ajv: Ajv2020, schema: Schema): Checker {
  let validate: ValidateFunction;
  try {
    validate = ajv.compile(schema as object);
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error : new Error(String(error)) };
  }
  if ('$async' in validate) return { ok: false, error: new Error('`$async` is no keyword of JSON Schema') };
  return {
    ok: true,
    check(value) {
      try {
        return validate(value) ? [] : (validate.errors ?? []).map(toIssue);
      } catch {
        // A recursive schema over a value that is nested thousands deep.
        return [{ instancePath: '', message: 'is nested too deep to be checked' }];
      }
    },
  };
}

function toIssue({ instancePath, schemaPath, keyword, params, message }: ErrorObject): Issue {
  return { instancePath, schemaPath, keyword, params: withTypeText(params), message: message ?? keyword };
}

/** Several allowed types are one text, joined with commas (D18). */
function withTypeText(params: ErrorObject['params']): Record<string, unknown> {
  const { type } = params as { type?: unknown };
  return Array.isArray(type) ? { ...params, type: type.join(',') } : params;
}

function hasId(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  if (!Array.isArray(schema) && '$id' in schema) return true;
  return Object.values(schema).some(hasId);
}

async function loadFormats(): Promise<(ajv: Ajv2020) => void> {
  const { default: formats } = await import('ajv-formats');
  return (ajv) => void formats.default(ajv);
}
