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
  return (schema) => {
    try {
      ajv.compile(schema as object);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
}
