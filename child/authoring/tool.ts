import type { ToolContext } from './context.ts';
import type { Pause } from './pause.ts';
import type { JsonSchema, ZodModel } from './schema.ts';

/** What a tool does to the world. */
export interface Effect {
  readonly kind:
    | 'reads'
    | 'writes'
    | 'deletes'
    | 'network'
    | 'spawns-run'
    | 'emits-event'
    | 'external-side-effect'
    | 'sensitive-data-egress';
  readonly resource?: string;
  readonly notes?: string;
}

/** What a tool wants to be given with each call, by its own names for it. */
export interface NeedsSpec {
  readonly env?: Readonly<Record<string, JsonSchema>>;
  readonly secrets?: Readonly<Record<string, JsonSchema>>;
  readonly connections?: Readonly<Record<string, unknown>>;
  readonly [kind: string]: unknown;
}

/** What a tool says about itself; it is copied into the index as it is. */
export interface ToolFacts {
  /** Unique in the pack, by convention `<pack id>.<tool>`. */
  readonly id: string;
  /** Default: none, and only calls that name no version find the tool. Several versions of one id may live side by side. */
  readonly version?: string;
  /** What a model reads to choose the tool. */
  readonly description?: string;
  readonly effects?: readonly Effect[];
  readonly needs?: readonly { readonly name: string; readonly optional?: boolean }[];
  readonly needsSpec?: NeedsSpec;
  readonly mutating?: boolean;
  readonly needsApprovalWhenUnattended?: boolean;
  readonly sandbox?: 'none' | 'context-isolated' | 'strict';
  readonly limits?: { readonly memMB: number; readonly cpuMs: number };
  readonly network?: { readonly kind: 'none' | 'allowlist' | 'unrestricted'; readonly hosts?: readonly string[] };
  /** It may return a `Pause`; without this its calls carry no wait token (protocol 2.8). */
  readonly pauses?: boolean;
  /** Its calls get `ctx.files.store` (protocol 2.10). */
  readonly storesFiles?: boolean;
  /** Its calls get `ctx.files.read` (protocol 2.10). */
  readonly readsFiles?: boolean;
}

/** One schema for the input: a Zod model, which the input is also parsed with, or a JSON Schema. */
type InputSchema<Input> =
  | { readonly inputZod: ZodModel<Input>; readonly input?: undefined }
  | { readonly input: JsonSchema; readonly inputZod?: undefined };

/** One schema for the output: a Zod model, of which the JSON Schema counts, or a JSON Schema. */
type OutputSchema<Output> =
  | { readonly outputZod: ZodModel<Output>; readonly output?: undefined }
  | { readonly output: JsonSchema; readonly outputZod?: undefined };

/** A tool: the default export of a file in `tools/`. */
export type Tool<Input = unknown, Output = unknown> = ToolFacts &
  InputSchema<Input> &
  OutputSchema<Output> & {
    /** Gets the checked input with defaults filled. What it returns is checked before it is answered; undefined is null. */
    readonly handler: (input: Input, ctx: ToolContext) => Answer<NoInfer<Output>> | Promise<Answer<NoInfer<Output>>>;
  };

type Answer<Output> = Output | Pause;

/**
 * Gives the tool back as it is; it only types it. Input and output are typed by their Zod models, or, with JSON Schemas,
 * by type arguments: `defineTool<{ name: string }, string>({…})`. Without either they are `unknown`.
 */
export function defineTool<Input = unknown, Output = unknown>(tool: Tool<Input, Output>): Tool<Input, Output> {
  return tool;
}
