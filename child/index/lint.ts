import type { Schema, SchemaCompiler } from '../schemas.ts';
import type { Collected } from './collect.ts';
import type { Warning } from './errors.ts';
import { createStrictCompiler } from './strictSchemas.ts';

/** Warnings about the schemas of an entry. */
export type SchemaLint = (item: Collected) => Warning[];

/**
 * Finds schemas that do not compile, so that every call fails, and those that only lenient services compile: the
 * released Node service compiles in strict mode and would refuse every call (F10, F12).
 */
export function createSchemaLint(compiler: SchemaCompiler): SchemaLint {
  const strict = {
    input: createStrictCompiler({ fillsDefaults: true }),
    exact: createStrictCompiler({ fillsDefaults: false }),
  };
  return ({ kind, entry, path }) => {
    const fields = kind === 'tool' ? (['input', 'output'] as const) : (['configSchema'] as const);
    return fields.flatMap((field): Warning[] => {
      if (kind === 'agent' || kind === 'flow' || entry[field] === undefined) return [];
      const schema = entry[field] as Schema;
      const why = (field === 'input' ? strict.input : strict.exact)(schema);
      if (why === undefined) return [];
      // What strict mode compiles, the lenient one compiles as well: it is asked only about the rest.
      const checker = compiler.exact(schema);
      if (checker.ok) {
        const message = `${path}: \`${field}\` is refused by strict services, where every call would fail: ${why}`;
        return [{ code: 'schema-not-strict', message, filePath: path, field }];
      }
      const message = `${path}: \`${field}\` does not compile, so every call will fail: ${checker.error.message}`;
      return [{ code: 'schema-does-not-compile', message, filePath: path, field }];
    });
  };
}
