import type { Judging, Schema } from '../schemas.ts';
import { refersOutside } from './references.ts';

/** All schemas of a pack that a service asks for. */
export interface SchemaList {
  readonly input: readonly Schema[];
  readonly exact: readonly Schema[];
  /** Whether any of them may use `format`; without one the formats need not be loaded. */
  readonly usesFormats: boolean;
}

/** One function to have: equal schemas share it. */
export interface Want {
  readonly key: string;
  readonly schema: Schema;
  readonly judging: Judging;
}

/** The functions that a list needs, in an order of their own: the same for the same list. */
export function wantsOf({ input, exact }: SchemaList): Want[] {
  const wants = new Map<string, Want>();
  const add = (schemas: readonly Schema[], judging: Judging): void => {
    for (const schema of schemas) {
      const key = keyOf(schema, judging);
      if (!isTrivial(schema) && !wants.has(key)) wants.set(key, { key, schema, judging });
    }
  };
  add(input, 'input');
  add(exact, 'exact');
  return [...wants.values()];
}

/** Whether every value fits, so that there is nothing to compile. */
export function isTrivial(schema: Schema): boolean {
  return schema === true || (schema !== false && Object.keys(schema).length === 0);
}

/** Without a default in it, or in what it refers to, a schema judges a value on its way in like any other. */
export function keyOf(schema: Schema, judging: Judging): string {
  const text = JSON.stringify(schema);
  const mayFill = text.includes('"default"') || refersOutside(text);
  return `${mayFill ? judging : 'exact'} ${text}`;
}
