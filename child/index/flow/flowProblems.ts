import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';

import type { Bag } from '../../modules/exports.ts';
import type { Schema } from '../../schemas.ts';
import { issueWords } from '../issueWords.ts';
import { createStrictCompiler } from '../strictSchemas.ts';
import type { StrictCompiler } from '../strictSchemas.ts';
import { FLOW_SCHEMA } from './flowSchema.ts';
import { scopeProblems } from './scope.ts';
import type { Edge } from './scope.ts';

const RESERVED: ReadonlySet<string> = new Set(['$start', '$end', '$loop-start', '$loop-end']);

/**
 * All that is wrong with a flow (F6): its parts by schema first; when those are right, ids, edges, mappings and the
 * schemas in it, in the order of the flow. `flow` is the primitive as it was exported, through JSON.
 */
export function flowProblems(flow: Bag): string[] {
  validateFlow ??= new Ajv2020({ allErrors: true, discriminator: true, strict: true, strictRequired: false }).compile(
    FLOW_SCHEMA,
  );
  if (!validateFlow(flow)) {
    // A failed `if` only says that its `then` failed, which says so itself.
    return [issueWords((validateFlow.errors ?? []).filter(({ keyword }) => keyword !== 'if'))];
  }
  const found: Found = { nodes: [], edges: [], problems: [] };
  walk({ nodes: flow.nodes as Node[], edges: flow.edges as Edge[] }, { name: '', start: '$start', end: '$end' }, found);
  const problems = [...repeated('node', found.nodes), ...repeated('edge', found.edges)];
  const nodeIds = new Set(found.nodes.map(({ id }) => id));
  for (const node of found.nodes) problems.push(...nodeProblems(node, nodeIds));
  const output = flow.output as { mapping: Mapping; schema?: Schema } | undefined;
  problems.push(...mappingProblems('output.mapping', output?.mapping ?? {}, nodeIds));
  problems.push(...schemaProblems('output.schema', output?.schema));
  return [...problems, ...found.problems];
}

let validateFlow: ValidateFunction | undefined;
/** The runtime compiles a flow's schemas itself, and strictly: what it refuses, no run would start with. */
let compileStrictly: StrictCompiler | undefined;

type Mapping = Readonly<Record<string, { readonly path?: string }>>;

interface Level {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
}

interface Node {
  readonly id: string;
  readonly kind: string;
  readonly body?: Level;
  readonly inputMapping?: Mapping;
  readonly outputSchema?: Schema;
  readonly maxIterations?: number;
  readonly concurrency?: number;
  readonly branches?: readonly { readonly branchId: string; readonly outputSchema: Schema }[];
}

interface Found {
  /** Of the flow and of all its loops: an id is unique in the whole flow. */
  readonly nodes: Node[];
  readonly edges: Edge[];
  readonly problems: string[];
}

function walk(level: Level, scope: { name: string; start: string; end: string }, found: Found): void {
  for (const node of level.nodes) found.nodes.push(node);
  for (const edge of level.edges) found.edges.push(edge);
  const nodeIds = new Set(level.nodes.map(({ id }) => id));
  found.problems.push(...scopeProblems({ ...scope, nodeIds, edges: level.edges }));
  for (const { id, body } of level.nodes) {
    if (body !== undefined) walk(body, { name: `loop "${id}"`, start: '$loop-start', end: '$loop-end' }, found);
  }
}

function repeated(what: string, items: readonly { readonly id: string }[]): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { id } of items) (seen.has(id) ? twice : seen).add(id);
  return [...twice].map((id) => `${what} id "${id}" is there twice`);
}

function nodeProblems(node: Node, nodeIds: ReadonlySet<string>): string[] {
  const { id, kind, branches = [], concurrency = 1 } = node;
  const problems: string[] = [];
  if (RESERVED.has(id)) problems.push(`node id "${id}" is reserved`);
  if (kind === 'tool' || kind === 'agent') {
    problems.push(...mappingProblems(`node "${id}": inputMapping`, node.inputMapping ?? {}, nodeIds, id));
  }
  problems.push(...schemaProblems(`node "${id}": outputSchema`, node.outputSchema));
  for (const { branchId, outputSchema } of branches) {
    problems.push(...schemaProblems(`node "${id}": outputSchema of branch "${branchId}"`, outputSchema));
  }
  problems.push(
    ...repeated(
      `node "${id}": branch`,
      branches.map(({ branchId }) => ({ id: branchId })),
    ),
  );
  const most = kind === 'fanout' ? branches.length : (node.maxIterations ?? concurrency);
  if (concurrency > most)
    problems.push(`node "${id}": concurrency is ${concurrency}, more than the ${most} it can run`);
  return problems;
}

/** A mapping reads what exists when its node runs; `own` is the node it belongs to. */
function mappingProblems(where: string, mapping: Mapping, nodeIds: ReadonlySet<string>, own?: string): string[] {
  const problems: string[] = [];
  for (const [key, { path }] of Object.entries(mapping)) {
    const [root, nodeId = ''] = path?.split('.') ?? [];
    const at = `${where}.${key}`;
    if (root === 'iterationIndex' || root === 'iterationOutput') {
      problems.push(`${at}: ${root} is known in the exitCondition of a loop only`);
    } else if (root === 'nodeOutputs') {
      if (!nodeIds.has(nodeId)) problems.push(`${at} reads the output of "${nodeId}", which is no node`);
      else if (nodeId === own) problems.push(`${at} reads the output of its own node`);
    }
  }
  return problems;
}

function schemaProblems(where: string, schema: Schema | undefined): string[] {
  if (schema === undefined) return [];
  compileStrictly ??= createStrictCompiler({ fillsDefaults: false });
  const why = compileStrictly(schema);
  return why === undefined ? [] : [`${where} does not compile: ${why}`];
}
