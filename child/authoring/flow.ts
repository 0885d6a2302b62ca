/** A step of a flow. */
export interface FlowNode {
  readonly id: string;
  readonly kind: string;
  /** The id of the tool, agent or flow that a plain step runs. */
  readonly ref?: string;
  readonly [field: string]: unknown;
}

/** What follows what: ids of nodes, `$start` or `$end`. */
export interface FlowEdge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly [field: string]: unknown;
}

/** A flow: the default export of a file in `flows/`. */
export interface Flow {
  /** Unique in the pack, together with the version. */
  readonly id: string;
  readonly version: string;
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly name?: string;
  readonly description?: string;
  /** At least 1. */
  readonly maxParallelism?: number;
  readonly [field: string]: unknown;
}

/** Gives the flow back as it is; it only types it. */
export function defineFlow<const Definition extends Flow>(flow: Definition): Definition {
  return flow;
}
