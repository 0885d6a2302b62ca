/** An agent: the default export of a file in `agents/`. Fields beyond these are copied into the index where it knows them. */
export interface Agent {
  /** Unique in the pack, together with the version. */
  readonly id: string;
  readonly version: string;
  readonly name: string;
  /** The text itself, or the prompt and version that hold it. */
  readonly instructions: string | { readonly prompt: string; readonly version: string };
  readonly capabilities: readonly unknown[];
  readonly tools: readonly { readonly id: string; readonly version: string }[];
  readonly description?: string;
  /** Ids of guardrails. */
  readonly guardrails?: readonly string[];
  readonly tags?: readonly string[];
  readonly [field: string]: unknown;
}

/** Gives the agent back as it is; it only types it. */
export function defineAgent<const Definition extends Agent>(agent: Definition): Definition {
  return agent;
}
