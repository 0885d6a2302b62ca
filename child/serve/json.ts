/** A value as its reader will see it: the text that is sent, and what that text means. */
export type Serialised =
  { readonly ok: true; readonly text: string; readonly value: unknown } | { readonly ok: false; readonly why: string };

/**
 * What pack code returned, as JSON. `undefined` is null (D14). Checked against a schema is the value as it arrives, not
 * as it lay in memory: a date is a string there, NaN is null, and members that are undefined are not there (D15).
 */
export function serialise(value: unknown): Serialised {
  try {
    const text = JSON.stringify(value === undefined ? null : value);
    if (text === undefined) return { ok: false, why: `a ${typeof value} is no JSON value` };
    return { ok: true, text, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, why: reasonOf(error) };
  }
}

/** The first line of what the serialiser says, or of what a `toJSON` of the pack threw. */
function reasonOf(error: unknown): string {
  try {
    if (error instanceof Error) return String(error.message).split('\n')[0] ?? '';
  } catch {
    // An error that throws when it is looked at.
  }
  return 'it is no JSON value';
}
