import { HEADER } from '../../../shared/protocol/headers.ts';
import type { PackInfo } from '../../../shared/protocol/messages.ts';
import { nearest } from '../../config/nearest.ts';
import { isObject } from './input.ts';
import type { CallPlace } from './place.ts';
import { exchange } from './request.ts';
import type { Exchange } from './request.ts';
import { printable } from '../printable.ts';

/** Who asks. */
export interface Caller {
  readonly place: CallPlace;
  readonly token: string;
  readonly tenant: string;
}

/** What a tab key can wait for. */
export const COMPLETION_MS = 3_000;

/** Ids that a shell takes for one word without a meaning of its own; others are not offered to it. */
const PLAIN_ID = /^[A-Za-z0-9_][A-Za-z0-9_.:@/+-]*$/;

/** Asks what the tenant's pack has. It starts the deployment as a call does (G4), so it may take a start's time. */
export function askInfo({ place, token, tenant }: Caller, withinMs: number, signal?: AbortSignal): Promise<Exchange> {
  const headers = { [HEADER.token]: token, [HEADER.tenantId]: tenant };
  return exchange(place, { method: 'GET', path: '/v1/info', headers, withinMs, ...(signal && { signal }) });
}

/** The info in an answer, as far as it is looked at here; undefined where there is none. */
export function infoIn(answer: Exchange): PackInfo | undefined {
  if (answer.kind !== 'answer' || answer.status !== 200) return undefined;
  try {
    const info: unknown = JSON.parse(answer.body.toString());
    return isInfo(info) ? info : undefined;
  } catch {
    return undefined;
  }
}

/** What a person reads: the pack, then an id a line. */
export function infoText({ packId, packVersion, artifactVersion, tools, checks, missingEnv = [] }: PackInfo): string {
  const lines = [
    `pack ${packId} ${packVersion} (version ${artifactVersion})`,
    ...tools.map(({ id, version }) => `tool   ${id}${version === undefined ? '' : `  ${version}`}`),
    ...checks.map((id) => `check  ${id}`),
    ...(missingEnv.length === 0 ? [] : [`missing in its environment: ${missingEnv.join(', ')}`]),
  ];
  return `${lines.map(printable).join('\n')}\n`;
}

/** Tool ids that begin so, for a shell's completion. */
export function completions({ tools }: PackInfo, prefix: string): string[] {
  const ids = new Set(tools.map(({ id }) => id).filter((id) => id.startsWith(prefix) && PLAIN_ID.test(id)));
  return [...ids].toSorted();
}

/** What was probably meant by an id that the pack does not have. */
export function meantBy(id: string, kind: 'tool' | 'check', { tools, checks }: PackInfo): string {
  const [own, others] = [tools.map((tool) => tool.id), checks];
  const [known, foreign] = kind === 'tool' ? [own, others] : [others, own];
  if (foreign.includes(id)) return kind === 'tool' ? 'That is a check: --check calls it.' : 'That is a tool.';
  const near = nearest(id, known) ?? known.find((one) => one.endsWith(`.${id}`));
  if (near !== undefined) return `Did you mean ${printable(near)}?`;
  return known.length === 0 ? `The pack has no ${kind}.` : '"packgate invoke --list" shows what there is.';
}

function isInfo(value: unknown): value is PackInfo {
  if (!isObject(value)) return false;
  const { packId, packVersion, artifactVersion, tools, checks } = value;
  const hasTexts = [packId, packVersion, artifactVersion].every((text) => typeof text === 'string');
  const hasTools =
    Array.isArray(tools) && tools.every((tool: unknown) => isObject(tool) && typeof tool.id === 'string');
  return hasTexts && hasTools && Array.isArray(checks) && checks.every((id) => typeof id === 'string');
}
