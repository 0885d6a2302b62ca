import { isBag } from '../modules/exports.ts';

const START = '$start';
const END = '$end';

/** What is wrong with a flow's nodes and edges as a graph (F6): all of it, in the order of the flow. */
export function flowProblems(nodes: readonly unknown[], edges: readonly unknown[]): string[] {
  const problems: string[] = [];
  if (nodes.length === 0) problems.push('`nodes` is empty: a flow has at least one');
  checkNodes(nodes, new Set(), problems);
  const ids = new Set(nodes.map((node) => field(node, 'id')));
  const links = edges.map((edge) => ({
    id: field(edge, 'id'),
    from: field(edge, 'from'),
    to: field(edge, 'to'),
  }));
  const seen = new Set<string>();
  for (const [at, { id, from, to }] of links.entries()) {
    const name = id ?? `edges[${at}]`;
    if (id === undefined || from === undefined || to === undefined) {
      problems.push(`edge ${name} needs \`id\`, \`from\` and \`to\``);
      continue;
    }
    if (seen.has(id)) problems.push(`edge id "${id}" is there twice`);
    seen.add(id);
    if (from !== START && !ids.has(from)) problems.push(`edge "${id}" comes from "${from}", which is no node`);
    if (to !== END && !ids.has(to)) problems.push(`edge "${id}" goes to "${to}", which is no node`);
  }
  if (!links.some(({ from }) => from === START)) problems.push(`no edge comes from "${START}"`);
  if (!links.some(({ to }) => to === END)) problems.push(`no edge goes to "${END}"`);
  const cycle = findCycle(links);
  if (cycle !== undefined) problems.push(`the edges run in a circle: ${cycle.join(' → ')}`);
  return problems;
}

/** Ids and fields of nodes, those in the bodies of loops included: an id is unique in the whole flow. */
function checkNodes(nodes: readonly unknown[], seen: Set<string>, problems: string[]): void {
  for (const [at, node] of nodes.entries()) {
    const id = field(node, 'id');
    const kind = field(node, 'kind');
    if (id === undefined || kind === undefined) {
      problems.push(`node ${id ?? `nodes[${at}]`} needs \`id\` and \`kind\``);
      continue;
    }
    if (seen.has(id)) problems.push(`node id "${id}" is there twice`);
    seen.add(id);
    if ((kind === 'tool' || kind === 'agent') && field(node, 'ref') === undefined) {
      problems.push(`node "${id}" needs \`ref\`: the ${kind} it runs`);
    }
    const body = isBag(node) ? node.body : undefined;
    if (isBag(body) && Array.isArray(body.nodes)) checkNodes(body.nodes, seen, problems);
  }
}

function findCycle(links: readonly { from: string | undefined; to: string | undefined }[]): string[] | undefined {
  const next = new Map<string, string[]>();
  for (const { from, to } of links) {
    if (from !== undefined && to !== undefined) next.set(from, [...(next.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): string[] | undefined => {
    const start = path.indexOf(node);
    if (start >= 0) return [...path.slice(start), node];
    if (done.has(node)) return undefined;
    path.push(node);
    for (const to of next.get(node) ?? []) {
      const cycle = visit(to);
      if (cycle !== undefined) return cycle;
    }
    path.pop();
    done.add(node);
    return undefined;
  };
  for (const node of next.keys()) {
    const cycle = visit(node);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

function field(value: unknown, key: string): string | undefined {
  const text = isBag(value) ? value[key] : undefined;
  return typeof text === 'string' && text !== '' ? text : undefined;
}
