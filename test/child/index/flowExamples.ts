/** A flow as an author writes it. */
export type Flow = Readonly<Record<string, unknown>>;

const tool = (id: string, more: object = {}): object => ({ id, kind: 'tool', ref: 'acme.echo', ...more });
const edge = (id: string, from: string, to: string, more: object = {}): object => ({ id, from, to, ...more });
const flow = (nodes: readonly object[], edges: readonly object[], more: object = {}): Flow => ({
  id: 'acme.flow',
  version: '1.0.0',
  nodes,
  edges,
  ...more,
});
/** `$start → a → $end`, with something changed. */
const line = (node: object = {}, more: object = {}): Flow =>
  flow([tool('a', node)], [edge('in', '$start', 'a'), edge('out', 'a', '$end')], more);
/** A flow of one node. */
const single = (node: object): Flow => flow([{ id: 'a', ...node }], [edge('in', '$start', 'a')]);
const inEdge = (more: object): Flow => flow([tool('a')], [edge('in', '$start', 'a', more)]);

const body = {
  nodes: [tool('b')],
  edges: [edge('b-in', '$loop-start', 'b'), edge('b-out', 'b', '$loop-end')],
};
const bounded = { kind: 'loop', body, maxIterations: 3, outputSchema: { type: 'object' } };
const whileLoop = {
  ...bounded,
  loopKind: 'while',
  exitCondition: { op: 'truthy', value: { path: 'iterationOutput.done' } },
};
const foreachLoop = { ...bounded, loopKind: 'foreach', iterateOver: { path: 'runInput.items' } };
const branch = (branchId: string, outputSchema: object = {}): object => ({
  branchId,
  handler: 'acme.echo',
  outputSchema,
});
const fanout = { kind: 'fanout', branches: [branch('x'), branch('y')], convergence: 'all-succeed' };
const subgraph = {
  kind: 'subgraph',
  flowRef: { flowId: 'acme.other', version: '1.0.0' },
  inputMapping: { all: { path: 'runInput' } },
  outputSchema: {},
  convergence: 'settle-all',
};
const isBig = { op: 'gt', left: { path: 'runInput.size' }, right: { literal: 10 } };

/** Flows that a runtime takes, by name. */
export const GOOD_FLOWS: Readonly<Record<string, Flow>> = {
  line: line(),
  'no-end': flow([tool('a')], [edge('in', '$start', 'a')]),
  'with-all': line(
    { config: { x: 1 }, inputMapping: { from: { path: 'runInput.from' }, one: { literal: 1 } } },
    {
      $schema: 'https://example.com/flow.json',
      name: 'All',
      description: 'Everything a flow may have.',
      maxParallelism: 2,
      metadata: { team: 'a' },
      output: { mapping: { result: { path: 'nodeOutputs.a.text' } }, schema: { type: 'object' } },
    },
  ),
  predicate: flow(
    [tool('a'), { id: 'b', kind: 'agent', ref: 'acme.agent' }],
    [
      edge('in', '$start', 'a'),
      edge('big', 'a', 'b', {
        when: {
          op: 'and',
          children: [isBig, { op: 'not', child: { op: 'in', value: { path: 'state.x' }, set: { literal: [1] } } }],
        },
      }),
      edge('out', 'b', '$end'),
    ],
  ),
  policy: inEdge({
    policy: {
      retry: { maxAttempts: 3, delayMs: 10, backoff: 'exponential', maxDelayMs: 100 },
      timeoutMs: 1000,
      concurrencyKey: 'one at a time',
      priority: -5,
    },
  }),
  while: single({ ...whileLoop, evaluationTiming: 'before', collectAllIterations: true }),
  foreach: single({ ...foreachLoop, concurrency: 3 }),
  fanout: single({ ...fanout, concurrency: 2 }),
  subgraph: single(subgraph),
  'nested-loops': single({
    ...whileLoop,
    body: {
      nodes: [{ ...foreachLoop, id: 'inner' }],
      edges: [edge('i-in', '$loop-start', 'inner')],
    },
  }),
  prerelease: line({}, { version: '1.0.0-rc.1' }),
};

/** Flows that a runtime refuses, by name, with words that have to be in the message. */
export const BAD_FLOWS: Readonly<Record<string, readonly [flow: Flow, ...words: readonly string[]]>> = {
  'version-range': [line({}, { version: '^1.0.0' }), '/version'],
  'no-nodes': [flow([], [edge('in', '$start', '$end')]), '/nodes'],
  'unknown-key': [line({}, { triggers: [] }), 'triggers'],
  'unknown-node-key': [line({ retries: 3 }), '/nodes/0', 'retries'],
  'unknown-kind': [single({ kind: 'step', ref: 'x' }), '/nodes/0', 'kind'],
  'no-ref': [flow([{ id: 'a', kind: 'tool' }], [edge('in', '$start', 'a')]), '/nodes/0', 'ref'],
  'reserved-id': [flow([tool('$end'), tool('a')], [edge('in', '$start', 'a')]), '"$end" is reserved'],
  'node-twice': [flow([tool('a'), tool('a')], [edge('in', '$start', 'a')]), 'node id "a" is there twice'],
  'node-twice-in-loop': [
    flow([{ id: 'l', ...whileLoop }, tool('b')], [edge('in', '$start', 'l')]),
    'node id "b" is there twice',
  ],
  'edge-twice': [
    flow([tool('a')], [edge('in', '$start', 'a'), edge('in', 'a', '$end')]),
    'edge id "in" is there twice',
  ],
  'edge-without-id': [flow([tool('a')], [{ from: '$start', to: 'a' }]), '/edges/0', 'id'],
  'unknown-from': [flow([tool('a')], [edge('in', '$start', 'a'), edge('x', 'zz', 'a')]), '"x"', '"zz"'],
  'unknown-to': [inEdge({ to: 'zz' }), '"in"', '"zz"'],
  'from-end': [flow([tool('a')], [edge('in', '$start', 'a'), edge('x', '$end', 'a')]), '"$end"'],
  'no-start': [flow([tool('a')], [edge('out', 'a', '$end')]), '"$start"'],
  circle: [
    flow([tool('a'), tool('b')], [edge('in', '$start', 'a'), edge('ab', 'a', 'b'), edge('ba', 'b', 'a')]),
    'circle: a → b → a',
  ],
  'circle-of-one': [flow([tool('a')], [edge('in', '$start', 'a'), edge('aa', 'a', 'a')]), 'circle: a → a'],
  'unknown-operator': [inEdge({ when: { op: 'like', left: { literal: 1 }, right: { literal: 1 } } }), '/edges/0/when'],
  'operand-of-both': [inEdge({ when: { op: 'truthy', value: { literal: 1, path: 'state' } } }), '/edges/0/when/value'],
  'path-of-nothing': [inEdge({ when: { op: 'truthy', value: { path: 'input.x' } } }), '/edges/0/when/value/path'],
  'junction-of-none': [inEdge({ when: { op: 'or', children: [] } }), '/edges/0/when/children'],
  'too-many-attempts': [inEdge({ policy: { retry: { maxAttempts: 11 } } }), 'maxAttempts'],
  'endless-backoff': [inEdge({ policy: { retry: { maxAttempts: 2, backoff: 'exponential' } } }), 'maxDelayMs'],
  'long-timeout': [inEdge({ policy: { timeoutMs: 3_600_001 } }), 'timeoutMs'],
  'empty-key': [inEdge({ policy: { concurrencyKey: '' } }), 'concurrencyKey'],
  'half-priority': [inEdge({ policy: { priority: 0.5 } }), 'priority'],
  'mapping-of-no-node': [line({ inputMapping: { x: { path: 'nodeOutputs.zz.y' } } }), 'inputMapping.x', '"zz"'],
  'mapping-of-itself': [line({ inputMapping: { x: { path: 'nodeOutputs.a' } } }), 'inputMapping.x', 'its own'],
  'mapping-of-iteration': [line({ inputMapping: { x: { path: 'iterationIndex' } } }), 'exitCondition'],
  'mapping-of-text': [line({ inputMapping: { x: 'runInput' } }), '/nodes/0/inputMapping/x'],
  'output-of-no-node': [line({}, { output: { mapping: { x: { path: 'nodeOutputs.zz' } } } }), 'output.mapping.x'],
  'output-without-mapping': [line({}, { output: {} }), '/output'],
  'output-schema': [line({}, { output: { mapping: {}, schema: { type: 'text' } } }), 'output.schema does not compile'],
  'while-without-exit': [single({ ...whileLoop, exitCondition: undefined }), 'exitCondition'],
  'while-with-items': [single({ ...whileLoop, iterateOver: { path: 'runInput' } }), 'iterateOver'],
  'foreach-without-items': [single({ ...foreachLoop, iterateOver: undefined }), 'iterateOver'],
  'foreach-with-timing': [single({ ...foreachLoop, evaluationTiming: 'before' }), 'evaluationTiming'],
  'foreach-too-wide': [single({ ...foreachLoop, concurrency: 4 }), 'concurrency is 4'],
  'loop-of-what': [single({ ...whileLoop, loopKind: 'until' }), 'loopKind'],
  'loop-without-bound': [single({ ...whileLoop, maxIterations: 10_001 }), 'maxIterations'],
  'loop-schema': [single({ ...whileLoop, outputSchema: { type: 'text' } }), 'outputSchema does not compile'],
  'loop-schema-not-strict': [
    single({ ...whileLoop, outputSchema: { type: 'object', colour: 'red' } }),
    'outputSchema does not compile',
    'colour',
  ],
  'loop-without-start': [
    single({ ...whileLoop, body: { nodes: [tool('b')], edges: [] } }),
    'loop "a": no edge comes from "$loop-start"',
  ],
  'loop-to-outside': [
    flow(
      [{ id: 'l', ...whileLoop, body: { ...body, edges: [edge('b-in', '$loop-start', 'a')] } }, tool('a')],
      [edge('in', '$start', 'l')],
    ),
    'loop "l"',
    '"a"',
  ],
  'loop-circle': [
    single({ ...whileLoop, body: { ...body, edges: [edge('i', '$loop-start', 'b'), edge('bb', 'b', 'b')] } }),
    'loop "a": the edges run in a circle',
  ],
  'loop-with-policy': [
    single({ ...whileLoop, body: { ...body, edges: [edge('i', '$loop-start', 'b', { policy: {} })] } }),
    'policy',
  ],
  'one-branch': [single({ ...fanout, branches: [branch('x')] }), 'branches'],
  'branch-twice': [single({ ...fanout, branches: [branch('x'), branch('x')] }), 'branch id "x" is there twice'],
  'branch-schema': [single({ ...fanout, branches: [branch('x'), branch('y', { type: 'text' })] }), 'branch "y"'],
  'fanout-too-wide': [single({ ...fanout, concurrency: 3 }), 'concurrency is 3'],
  'fanout-without-mode': [single({ ...fanout, convergence: 'some' }), 'convergence'],
  'subgraph-range': [single({ ...subgraph, flowRef: { flowId: 'x', version: '~1.0.0' } }), '/flowRef/version'],
  'subgraph-schema': [single({ ...subgraph, outputSchema: { type: 'text' } }), 'outputSchema does not compile'],
  'subgraph-without-mapping': [single({ ...subgraph, inputMapping: undefined }), 'inputMapping'],
};
