import { NotLookedAt } from './notLookedAt.ts';
import type { IndexEntry, PackIndex, Service, Target } from './service.ts';

/** The tools of the conformance pack that clauses call. Ids that are not in here are called to see that they are not there. */
const TOOLS: ReadonlySet<string> = new Set(
  `bad-output blocks context crashes cyclic defaults echo even exits files hold keywords logs noisy nothing pauses
  process-env rejects shape sleep stubborn throws versioned visible`
    .split(/\s+/)
    .map((name) => `conformance.${name}`),
);

/** The same for its checks. */
const CHECKS: ReadonlySet<string> = new Set(
  ['min-length', 'throws', 'bad-verdict', 'boolean'].map((name) => `conformance.checks.${name}`),
);

type Needing = Pick<Service, 'expectedInfo' | 'onNeed'>;

/** @throws {NotLookedAt} when it is a tool of the conformance pack that the served pack lacks. */
export function needTool({ expectedInfo, onNeed }: Needing, toolId: string): void {
  if (!TOOLS.has(toolId)) return;
  onNeed?.(toolId);
  if (!expectedInfo.tools.some(({ id }) => id === toolId)) throw new NotLookedAt(`the pack has no tool ${toolId}`);
}

/** The same for a check. */
export function needCheck({ expectedInfo, onNeed }: Needing, checkId: string): void {
  if (!CHECKS.has(checkId)) return;
  onNeed?.(checkId);
  if (!expectedInfo.checks.includes(checkId)) throw new NotLookedAt(`the pack has no check ${checkId}`);
}

/**
 * An index with one of its tools or guardrails changed.
 * @throws {NotLookedAt} when it has none of this id.
 */
export function withEntry(
  index: PackIndex,
  list: 'tools' | 'guardrails',
  id: string,
  change: (entry: IndexEntry) => IndexEntry,
): PackIndex {
  if (!index[list].some((entry) => entry.id === id)) {
    throw new NotLookedAt(`the pack has no ${list === 'tools' ? 'tool' : 'guardrail'} ${id}`);
  }
  return { ...index, [list]: index[list].map((entry) => (entry.id === id ? change(entry) : entry)) };
}

/**
 * The path of a module that the pack has beside those that its index names.
 * @throws {NotLookedAt} when it has none of this kind.
 */
export function needModule(target: Target, kind: keyof Target['traits']): string {
  const path = target.traits[kind];
  if (path === undefined) throw new NotLookedAt(`the pack has no module broken/${kind}`);
  return path;
}
