/** An edge whose ends are known to be texts. */
export interface Edge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
}

/** One level of a flow: the flow itself, or the body of a loop. */
export interface Scope {
  /** How messages name it; empty for the flow itself. */
  readonly name: string;
  readonly nodeIds: ReadonlySet<string>;
  readonly edges: readonly Edge[];
  /** What stands for the beginning and the end of this level. */
  readonly start: string;
  readonly end: string;
}

/** What is wrong with how the nodes of one level are connected (F6). */
export function scopeProblems({ name, nodeIds, edges, start, end }: Scope): string[] {
  const problems: string[] = [];
  for (const { id, from, to } of edges) {
    if (from !== start && !nodeIds.has(from)) problems.push(`edge "${id}" comes from "${from}", which is no node here`);
    if (to !== end && !nodeIds.has(to)) problems.push(`edge "${id}" goes to "${to}", which is no node here`);
  }
  if (!edges.some(({ from }) => from === start)) problems.push(`no edge comes from "${start}", so nothing would run`);
  const cycle = findCycle(edges.filter(({ from, to }) => from !== start && to !== end));
  if (cycle !== undefined) problems.push(`the edges run in a circle: ${cycle.join(' → ')}`);
  return problems.map((problem) => (name === '' ? problem : `${name}: ${problem}`));
}

/** A circle among the edges, its first node at both ends. */
function findCycle(edges: readonly Edge[]): string[] | undefined {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const targets = next.get(from);
    if (targets === undefined) next.set(from, [to]);
    else targets.push(to);
  }
  const done = new Set<string>();
  // A path of its own instead of recursion: a flow may be a chain of any length.
  for (const first of next.keys()) {
    const path: { readonly node: string; readonly rest: string[] }[] = [];
    const onPath = new Set<string>();
    const enter = (node: string): void => {
      path.push({ node, rest: [...(next.get(node) ?? [])] });
      onPath.add(node);
    };
    if (!done.has(first)) enter(first);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const to = last.rest.pop();
      if (to === undefined) {
        path.pop();
        onPath.delete(last.node);
        done.add(last.node);
      } else if (onPath.has(to)) {
        const nodes = path.map(({ node }) => node);
        return [...nodes.slice(nodes.indexOf(to)), to];
      } else if (!done.has(to)) enter(to);
    }
  }
  return undefined;
}
