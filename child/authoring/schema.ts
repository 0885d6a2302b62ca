/** A JSON Schema, draft 2020-12. Zod models go into the fields whose name ends in `Zod`. */
export type JsonSchema = boolean | ({ readonly [keyword: string]: unknown } & { readonly _zod?: never });

/**
 * A Zod 4 model, known by its structure: this package brings no Zod, the pack brings its own. `Output` is what parsing
 * gives: defaults filled, transforms applied; `Input` is what may be sent.
 */
export interface ZodModel<Output, Input = unknown> {
  readonly _zod: { readonly output: Output; readonly input: Input };
  readonly '~standard': object;
}
