import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

import type { Schema } from '../schemas.ts';

/** Why a schema does not compile in strict mode; undefined when it does. */
export type StrictCompiler = (schema: Schema) => string | undefined;

/**
 * Compiles as the runtime and the released Node service do (F10). With `fillsDefaults` as they do for inputs, where a
 * default in a place in which none is filled is refused as well.
 */
export function createStrictCompiler({ fillsDefaults }: { fillsDefaults: boolean }): StrictCompiler {
  const ajv = strictAjv(fillsDefaults);
  return (schema) => {
    try {
      ajv.compile(schema as object);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
}

const made = new Map<boolean, Ajv2020>();

/** One for all runs of a process: the first schema of each makes it compile the schema of schemas, a quarter of a run. */
function strictAjv(fillsDefaults: boolean): Ajv2020 {
  const known = made.get(fillsDefaults);
  if (known !== undefined) return known;
  const ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    allowUnionTypes: true,
    useDefaults: fillsDefaults,
    logger: false,
    // Two tools may well share a model, and with it an `$id`.
    addUsedSchema: false,
  });
  formats.default(ajv);
  made.set(fillsDefaults, ajv);
  return ajv;
}
