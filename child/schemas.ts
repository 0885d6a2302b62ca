import type { Issue } from '../shared/protocol/messages.ts';
import { checkerOf } from './schemas/checker.ts';
import type { Compiled } from './schemas/checker.ts';
import { keyOf, wantsOf } from './schemas/wants.ts';
import type { SchemaList } from './schemas/wants.ts';

/** A JSON Schema, as written by whoever indexed the pack. */
export type Schema = boolean | { readonly [keyword: string]: unknown };

/** A schema ready to use: all issues of a value, none when it fits; or why the schema does not compile. */
export type Checker =
  | { readonly ok: true; readonly check: (value: unknown) => readonly Issue[] }
  | { readonly ok: false; readonly error: Error };

/** Gives the checkers of schemas, draft 2020-12. */
export interface SchemaCompiler {
  /** For values on their way in: missing keys with a default are filled in, in place (D9, F13). */
  input(schema: Schema): Checker;
  /** For values that are judged as they are. */
  exact(schema: Schema): Checker;
}

/** How a schema judges: `input` fills defaults in, `exact` changes nothing. */
export type Judging = keyof SchemaCompiler;

/** Compiles schemas as they are asked for, equal ones once. */
export interface IndexSchemas extends SchemaCompiler {
  /** Stores the schemas of a list in `folder`, for the starts of a service. Rejects when it cannot be written. */
  keep(list: SchemaList, folder: string): Promise<void>;
}

/** For an indexer. A service, which knows all its schemas beforehand, takes `prepareSchemas`, which can be quicker. */
export async function createSchemaCompiler({ usesFormats }: { usesFormats: boolean }): Promise<IndexSchemas> {
  // Imported only here and where nothing is stored: the compiler's own code is 250 KB.
  const { Compiler } = await import('./schemas/compile.ts');
  const compiler = await Compiler.create({ usesFormats, keepsSource: true });
  const known = new Map<string, Compiled>();
  const compile = (schema: Schema, judging: Judging): Compiled => {
    const key = keyOf(schema, judging);
    const compiled = known.get(key) ?? compiler.compile(schema, judging);
    known.set(key, compiled);
    return compiled;
  };
  return {
    input: (schema) => checkerOf(compile(schema, 'input')),
    exact: (schema) => checkerOf(compile(schema, 'exact')),
    async keep(list, folder) {
      const wants = wantsOf(list);
      if (wants.length === 0) return;
      const { storeCompiled } = await import('./schemas/store.ts');
      const compiled = wants.map(({ schema, judging }) => compile(schema, judging));
      const at = { folder, keys: wants.map(({ key }) => key), usesFormats: list.usesFormats };
      await storeCompiled(compiler, compiled, at);
    },
  };
}
