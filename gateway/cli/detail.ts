import type { DeploymentStatus, InstanceStatus } from '../supervisor/status.ts';
import type { Verdict } from '../supervisor/proof.ts';
import { bytesText, durationText, sinceText } from './amounts.ts';
import { bootLines } from './bootText.ts';
import { nameText } from './deployments.ts';
import type { Look } from './overview.ts';
import { printable, printableLines } from './printable.ts';
import { stateText } from './stateText.ts';
import { table } from './table.ts';

const HEAD = ['ROLE', 'INSTANCE', 'STATE', 'PID', 'BUILD', 'IN FLIGHT', 'CALLS', 'MEMORY', 'READY FOR'];
const STATE_COLUMN = HEAD.indexOf('STATE');

/** Everything there is to know of one deployment, for people. */
export function detailText(status: DeploymentStatus, look: Look): string {
  const { paint } = look;
  const title = `${paint.bold(printable(nameText(status)))}  ${stateText(printable(status.state), paint)}`;
  return [
    title,
    ...factLines(status, look),
    ...section('processes', instanceLines(status, look)),
    ...section(
      'last starts, newest first',
      status.boots.flatMap((boot) => bootLines(boot, look)),
    ),
    '',
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}

function factLines(status: DeploymentStatus, { nowMs, paint }: Look): string[] {
  const { reason, retryInMs, failures, calls, memoryBytes, build, previousBuild, isRolledBack } = status;
  const facts: [string, readonly string[]][] = [];
  if (reason !== undefined) {
    const [first = '', ...more] = printableLines(reason.message);
    facts.push([
      'reason',
      [`${paint.bad(printable(reason.code))}, ${sinceText(reason.at, nowMs)} ago: ${first}`, ...more],
    ]);
  }
  if (retryInMs !== undefined) facts.push(['next try', [`in ${durationText(retryInMs)}`]]);
  if (failures > 0) facts.push(['failures', [`${failures} in a row`]]);
  facts.push(['calls', [`${calls.inFlight} in flight, ${calls.waiting} waiting, ${calls.total} in all`]]);
  if (memoryBytes !== undefined) facts.push(['memory', [bytesText(memoryBytes)]]);
  if (build !== undefined) facts.push(['build', [printable(build) + (isRolledBack ? ' (rolled back to)' : '')]]);
  if (previousBuild !== undefined)
    facts.push(['previous', [`${printable(previousBuild)} ("packgate rollback" serves it)`]]);
  const verdict = verdictOf(status);
  if (verdict !== undefined) facts.push(['proof', [verdictText(verdict)]]);
  return facts.flatMap(([label, texts]) => texts.map((text, at) => `  ${(at === 0 ? label : '').padEnd(8)}  ${text}`));
}

/** What the proof of the instance that serves found. */
function verdictOf({ serving, boots }: DeploymentStatus): Verdict | undefined {
  return boots.find(({ instance }) => instance === serving?.name)?.verdict;
}

function verdictText({ header, context, port }: Verdict): string {
  const ignored = [...(header === 'ignored' ? ['header'] : []), ...(context === 'ignored' ? ['context'] : [])];
  const whoChecks =
    ignored.length === 0
      ? 'it checks the tenant itself'
      : `it ignores the tenant of ${ignored.join(' and ')}: the gateway checks that`;
  return `${whoChecks}; port ${port}`;
}

function instanceLines({ serving, next, leaving }: DeploymentStatus, { nowMs, paint }: Look): string[] {
  const rows = [
    ...(serving === undefined ? [] : [rowOf('serving', serving, nowMs)]),
    ...(next === undefined ? [] : [rowOf('next', next, nowMs)]),
    ...leaving.map((instance) => rowOf('leaving', instance, nowMs)),
  ];
  if (rows.length === 0) return [];
  return table(HEAD, rows, (cell, column) => (column === STATE_COLUMN ? stateText(cell, paint) : cell));
}

function rowOf(role: string, instance: InstanceStatus, nowMs: number): string[] {
  const { name, state, pid, build, callsInFlight, calls, memoryBytes, readyAt } = instance;
  return [
    role,
    name,
    state,
    `${pid ?? '-'}`,
    build ?? '-',
    `${callsInFlight}`,
    `${calls}`,
    memoryBytes === undefined ? '-' : bytesText(memoryBytes),
    readyAt === undefined ? '-' : sinceText(readyAt, nowMs),
  ].map(printable);
}
