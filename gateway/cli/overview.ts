import type { GatewayStatus } from '../admin/host.ts';
import type { DeploymentStatus } from '../supervisor/status.ts';
import { bytesText, durationText, sinceText } from './amounts.ts';
import type { Paint } from './paint.ts';
import { printable } from './printable.ts';
import { stateText } from './stateText.ts';
import { table } from './table.ts';

/** What a text for people depends on besides the data. */
export interface Look {
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  readonly paint: Paint;
}

const HEAD = ['TENANT', 'DEPLOYMENT', 'STATE', 'PID', 'CALLS', 'WAITING', 'MEMORY', 'UPTIME/RETRY', 'NOTE'];
const STATE_COLUMN = HEAD.indexOf('STATE');

/** A longer note is cut: the rest is in the status of the one deployment. */
const MAX_NOTE = 90;

/** The gateway in a line, then a line for each deployment. */
export function overviewText(
  gateway: Partial<GatewayStatus>,
  deployments: readonly DeploymentStatus[],
  { nowMs, paint }: Look,
): string {
  const rows = deployments.map((status) => rowOf(status, nowMs));
  const lines =
    rows.length === 0
      ? ['no deployments']
      : table(HEAD, rows, (cell, column) => (column === STATE_COLUMN ? stateText(cell, paint) : cell));
  return [...gatewayLines(gateway, nowMs), '', ...lines, ''].join('\n');
}

function gatewayLines(gateway: Partial<GatewayStatus>, nowMs: number): string[] {
  const { version, pid, address, startedAt, state, memoryBytes, descriptors } = gateway;
  const { instancesMemoryBytes, memoryBudgetBytes } = gateway;
  const budget = memoryBudgetBytes === undefined ? '' : ` of ${bytesText(memoryBudgetBytes)}`;
  const first = [
    `packgate ${version ?? ''}`,
    `${state ?? ''} for ${sinceText(startedAt ?? '', nowMs)} on ${address ?? ''}`,
    `pid ${pid ?? ''}`,
  ];
  const second = [
    `memory ${bytesText(memoryBytes ?? 0)}`,
    ...(descriptors === undefined ? [] : [`${descriptors} descriptors`]),
    `instances ${bytesText(instancesMemoryBytes ?? 0)}${budget}`,
  ];
  return [first, second].map((parts) => printable(parts.join(', ')));
}

function rowOf(status: DeploymentStatus, nowMs: number): string[] {
  const { tenant, deployment, state, serving, next, calls, memoryBytes } = status;
  return [
    tenant,
    deployment,
    state,
    `${serving?.pid ?? next?.pid ?? '-'}`,
    `${calls.inFlight}`,
    `${calls.waiting}`,
    memoryBytes === undefined ? '-' : bytesText(memoryBytes),
    timeOf(status, nowMs),
    noteOf(status),
  ].map(printable);
}

function timeOf({ state, serving, retryInMs }: DeploymentStatus, nowMs: number): string {
  if (state === 'cooling' && retryInMs !== undefined) return `in ${durationText(retryInMs)}`;
  return serving?.readyAt === undefined ? '-' : sinceText(serving.readyAt, nowMs);
}

/** What is out of the ordinary; the reason first. */
function noteOf({ reason, state, next, leaving, isRolledBack }: DeploymentStatus): string {
  const notes = [
    ...(reason === undefined ? [] : [`${reason.code}: ${reason.message.split(/\r?\n/)[0] ?? ''}`]),
    ...(state === 'ready' && next !== undefined ? ['the next one is starting'] : []),
    ...(leaving.length > 0 ? [`${leaving.length} leaving`] : []),
    ...(isRolledBack ? ['rolled back'] : []),
  ];
  const text = notes.join('; ');
  return text.length > MAX_NOTE ? `${text.slice(0, MAX_NOTE - 1)}…` : text;
}
