import type { JsonSchema, ZodModel } from './schema.ts';

/** What a check is shown of a run: these fields and more, which depend on the runtime. */
export interface Trace {
  /** The final text of the run, when there is one. */
  readonly output?: string;
  readonly userInput?: string;
  readonly toolCalls?: readonly Readonly<Record<string, unknown>>[];
  readonly toolResults?: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}

/** What a check answers; `true` and `false` stand for `{ passed }`. */
export interface Verdict {
  readonly passed: boolean;
  /** Why, for people. */
  readonly reason?: string;
  readonly judgeResponse?: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** The third argument of a check. */
export interface CheckBindings {
  /** Fires when the verdict is of no use any more; its reason is `deadline-exceeded` or `cancelled`. */
  readonly abortSignal: AbortSignal;
}

/** The check of a guardrail. One schema for its config at most: a Zod model or a JSON Schema. */
export type Check<Config> = {
  /** What a runtime calls it by; begin it with `<pack id>.`, because packs share a runtime. */
  readonly id: string;
  /** Gets the config as it was written down, checked against its schema but with no default filled. */
  readonly evaluate: (
    config: Config,
    trace: Trace,
    bindings: CheckBindings,
  ) => Verdict | boolean | Promise<Verdict | boolean>;
} & (
  | { readonly configZod: ZodModel<unknown, Config>; readonly configSchema?: undefined }
  | { readonly configSchema?: JsonSchema; readonly configZod?: undefined }
);

/** A guardrail: the default export of a file in `guardrails/`. */
export interface Guardrail<Config = Readonly<Record<string, unknown>>> {
  /** Unique in the pack. */
  readonly id: string;
  readonly kind: string;
  readonly name?: string;
  readonly action: { readonly 'on-violation': string; readonly [field: string]: unknown };
  readonly severity?: string;
  readonly scope?: Readonly<Record<string, unknown>>;
  /** Default: `{}`. It must fit the check's schema. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** A check of this pack, or the id of one that the runtime brings: `must-cite`, `required-substring` and so on. */
  readonly check: Check<Config> | string;
}

/**
 * Gives the guardrail back as it is; it only types it. The config is typed by what its Zod model takes, or by a type
 * argument. To be
 * served by other services as well, a module also exports the check by name: `export const check = guardrail.check`.
 */
export function defineGuardrail<Config = Readonly<Record<string, unknown>>>(
  guardrail: Guardrail<Config>,
): Guardrail<Config> {
  return guardrail;
}
