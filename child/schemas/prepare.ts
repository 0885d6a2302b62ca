import type { Checker, Judging, Schema, SchemaCompiler } from '../schemas.ts';
import { ACCEPTS_ALL, checkerOf } from './checker.ts';
import type { Compiled } from './checker.ts';
import { readStored } from './stored.ts';
import { isTrivial, keyOf, wantsOf } from './wants.ts';
import type { SchemaList } from './wants.ts';

/** The schemas of a list, ready to use. Asking for another one is a bug and throws. */
export interface PreparedSchemas extends SchemaCompiler {
  /**
   * Stores what this start compiled for later ones, in slices that let calls pass. Nothing to store, or nowhere: nothing
   * happens. Rejects when the folder cannot be written.
   */
  keep(): Promise<void>;
}

/**
 * Prepares all schemas of a pack. Given a `folder` that outlives the process, what an earlier start or the indexer stored
 * there is taken and the compiler is not even loaded, which saves nearly half of a start's CPU time.
 */
export async function prepareSchemas(list: SchemaList, folder: string | undefined): Promise<PreparedSchemas> {
  const wants = wantsOf(list);
  const keys = wants.map(({ key }) => key);
  const { usesFormats } = list;
  const keepNothing = (): Promise<void> => Promise.resolve();
  if (wants.length === 0) return prepared(keys, [], keepNothing);

  const at = folder === undefined ? undefined : { folder, keys, usesFormats };
  const stored = at && (await readStored(at));
  if (stored !== undefined) return prepared(keys, stored, keepNothing);

  const { Compiler } = await import('./compile.ts');
  const compiler = await Compiler.create({ usesFormats, keepsSource: at !== undefined });
  const compiled = wants.map(({ schema, judging }) => compiler.compile(schema, judging));
  if (at === undefined) return prepared(keys, compiled, keepNothing);
  return prepared(keys, compiled, async () => {
    const { storeCompiled } = await import('./store.ts');
    await storeCompiled(compiler, compiled, at);
  });
}

function prepared(keys: readonly string[], compiled: readonly Compiled[], keep: () => Promise<void>): PreparedSchemas {
  const checkers = new Map<string, Checker>();
  for (const [at, key] of keys.entries()) {
    const one = compiled[at];
    if (one !== undefined) checkers.set(key, checkerOf(one));
  }
  const find = (schema: Schema, judging: Judging): Checker => {
    if (isTrivial(schema)) return ACCEPTS_ALL;
    const checker = checkers.get(keyOf(schema, judging));
    if (checker === undefined) throw new Error('a schema was asked for that is not in the list');
    return checker;
  };
  return { input: (schema) => find(schema, 'input'), exact: (schema) => find(schema, 'exact'), keep };
}
