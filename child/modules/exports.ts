/** Anything with properties. */
export type Bag = Readonly<Record<string, unknown>>;

/**
 * What an export means: the value of a Result (`{kind: 'ok', value}`), as `defineTool` returns it, and the default of a
 * CommonJS module that was compiled from ES modules; else itself (F8: what indexes must run).
 */
export function unwrap(value: unknown): unknown {
  if (!isBag(value)) return value;
  if (value.__esModule === true && 'default' in value) return unwrap(value.default);
  if (value.kind === 'ok' && 'value' in value) return unwrap(value.value);
  return value;
}

/** What a failed Result (`{kind: 'err', error}`) holds; undefined for anything else. */
export function failedResult(value: unknown): { readonly text: string; readonly error: unknown } | undefined {
  if (!isBag(value)) return undefined;
  if (value.__esModule === true && 'default' in value) return failedResult(value.default);
  if (value.kind !== 'err' || !('error' in value)) return undefined;
  const { error } = value;
  const text = isBag(error) && typeof error.message === 'string' ? error.message : JSON.stringify(error);
  return { text, error };
}

export function isBag(value: unknown): value is Bag {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
