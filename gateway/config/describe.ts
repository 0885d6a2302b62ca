const MAX_TEXT = 60;

/**
 * What was found, for "got …". Of a secret only the kind is told, and of a mapping there only the keys that the schema
 * has.
 */
export function describe(
  value: unknown,
  schema: { readonly secret?: boolean; readonly properties?: Readonly<Record<string, unknown>> } = {},
): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') {
    const keys = Object.keys(value).filter((key) => Object.hasOwn(schema.properties ?? {}, key));
    if (Object.keys(value).length === 0) return 'an empty mapping';
    return schema.secret === true && keys.length > 0 ? `a mapping with ${keys.join(', ')}` : 'a mapping';
  }
  if (schema.secret === true) return `a ${kindOf(value)} (not shown)`;
  if (typeof value === 'string') {
    return JSON.stringify(value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value);
  }
  return `the ${kindOf(value)} ${JSON.stringify(value)}`;
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return 'text';
  return typeof value === 'boolean' ? 'truth value' : 'number';
}
