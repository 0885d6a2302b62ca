import { relative } from 'node:path';
import type { Paint } from '../cli/paint.ts';
import { printable, printableLines } from '../cli/printable.ts';
import { isInspectorTalk } from './inspect/children.ts';
import { DEV_EVENT } from './records.ts';

/** A log record as it was written, read again. */
export type LogRecord = Readonly<Record<string, unknown>>;

/** What a person is shown of a record: lines without their prefix; none for what is no news. */
export type LinesOf = (record: LogRecord, paint: Paint) => readonly string[];

const NOTHING: LinesOf = () => [];

/** By event. What is not here is shown only where something is wrong. */
const LINES: ReadonlyMap<string, LinesOf> = new Map<string, LinesOf>([
  ['call', callLines],
  ['output', ({ output }) => (isInspectorTalk(textOf(output)) ? [] : printableLines(textOf(output)))],
  ['pack-record', packRecordLines],
  ['start-failed', startFailedLines],
  ['instance-exited', exitLines],
  ['instance-sick', ({ message }, { bad }) => [`${bad('!')} ${printable(textOf(message))}`]],
  ['file-error', ({ problem }, { bad }) => [`${bad('✗')} ${problemLine(textOf(problem))}`]],
  ['index-warning', ({ problem }, { busy }) => [`${busy('!')} ${problemLine(textOf(problem))}`]],
  ['draining', (_, { faint }) => [faint('stopping: calls under way may end, Ctrl+C again cuts them')]],
  ['stopped', (_, { faint }) => [faint('stopped')]],
  [
    DEV_EVENT.found,
    ({ path, runtime }, { faint }) => [faint(`${printable(textOf(runtime))} pack in ${printable(textOf(path))}`)],
  ],
  [DEV_EVENT.gone, (_, { faint }) => [faint('is gone: not served any more')]],
  [DEV_EVENT.inspect, ({ address }, { faint }) => [faint(`debugger: ${textOf(address)}`)]],
  [DEV_EVENT.served, servedLines],
  [DEV_EVENT.broken, brokenLines],
  [DEV_EVENT.problem, ({ problem }, { bad }) => [`${bad('✗')} ${printable(textOf(problem))}`]],
  [DEV_EVENT.paused, pausedLines],
  [DEV_EVENT.answered, answeredLines],
  // The operators' side is ours alone here, and everything is one person's.
  ['no-tether', NOTHING],
  ['not-isolated', NOTHING],
]);

/** What is shown of a record. */
export const linesOf: LinesOf = (record, paint) => {
  const known = LINES.get(textOf(record.event));
  if (known !== undefined) return known(record, paint);
  const { level, message } = record;
  if (level === 'warn') return [`${paint.busy('!')} ${printable(textOf(message))}`];
  return level === 'error' || level === 'fatal' ? [`${paint.bad('✗')} ${printable(textOf(message))}`] : [];
};

/** A call that came back from its pack is told by the pack itself, with the name of its tool. */
function callLines(
  { route, code, status, outcome, durationMs, handedOver }: LogRecord,
  { bad, faint }: Paint,
): string[] {
  if (code !== undefined)
    return [`${bad(printable(textOf(code)))} ${textOf(status)}  ${faint(`${textOf(durationMs)} ms`)}`];
  if (route === 'info' || outcome === 'answered') return [];
  return [
    `${bad(handedOver === 'no' ? 'not sent' : printable(textOf(outcome)))}  ${faint(`${textOf(durationMs)} ms`)}`,
  ];
}

function packRecordLines({ record, level }: LogRecord, paint: Paint): readonly string[] {
  const fields = typeof record === 'object' && record !== null ? (record as LogRecord) : {};
  const event = fields.event ?? fields.kind;
  if (event === 'call') {
    const { id, outcome, durationMs } = fields;
    const end = outcome === 'ok' ? paint.good('ok') : paint.bad(printable(textOf(outcome)));
    return [`${printable(textOf(id))}  ${end}  ${paint.faint(`${printable(textOf(durationMs))} ms`)}`];
  }
  // What it says of its own life is told by those who follow it.
  if (typeof event === 'string' && ['listening', 'draining', 'stopped', 'boot-failed'].includes(event)) return [];
  const mark = level === 'error' ? `${paint.bad('✗')} ` : level === 'warn' ? `${paint.busy('!')} ` : '';
  return printableLines(textOf(fields.message)).map((line, at) =>
    at === 0 ? `${mark}${line}${moreOf(fields, paint)}` : line,
  );
}

/** Fields that every record has, or whose meaning is in the line already. */
const COMMON = new Set(
  'time level severity subsystem message inMessage event kind target toolId checkId packId artifactVersion'
    .concat(' tenantId runId requestId traceId spanId')
    .split(' '),
);

/** What a handler said beside its message. */
function moreOf(fields: LogRecord, { faint }: Paint): string {
  const rest = Object.entries(fields).filter(([name]) => !COMMON.has(name));
  if (rest.length === 0) return '';
  return faint(
    ` ${rest.map(([name, value]) => `${printable(name)}=${printable(JSON.stringify(value) ?? '')}`).join(' ')}`,
  );
}

/** Those that were ordered here are told with what was saved. */
function startFailedLines({ cause, message, problems }: LogRecord, { bad }: Paint): readonly string[] {
  if (cause === 'reload') return [];
  return [`${bad('✗')} not started: ${printable(textOf(message))}`, ...problemLines(problems)];
}

function exitLines({ expected, exit }: LogRecord, { bad, faint }: Paint): readonly string[] {
  if (expected === true || typeof exit !== 'object' || exit === null) return [];
  const { kind, code, signal } = exit as LogRecord;
  const how = kind === 'code' ? `exit code ${textOf(code)}` : `signal ${textOf(signal)}`;
  return [`${bad('✗')} the process ended by itself (${how}); ${faint('the next call starts it again')}`];
}

function servedLines({ isFirst, isMended, durationMs, files }: LogRecord, { good, faint }: Paint): readonly string[] {
  const ms = `${textOf(durationMs)} ms`;
  if (isFirst === true) return [`${good('✓')} serves ${faint(`after ${ms}`)}`];
  const what = isMended === true ? 'mended' : 'saved';
  return [`${good('✓')} ${what}, served after ${ms}${filesText(files, faint)}`];
}

function brokenLines({ isServing, files, problems }: LogRecord, { bad, faint }: Paint): readonly string[] {
  const rest = isServing === true ? 'the last good build goes on serving' : 'nothing serves until it is mended';
  return [`${bad('✗')} broken: ${rest}${filesText(files, faint)}`, ...problemLines(problems)];
}

function pausedLines({ tool, name }: LogRecord, { busy }: Paint): readonly string[] {
  const what = name === undefined ? '' : ` for "${printable(textOf(name))}"`;
  return [`${printable(textOf(tool))}  ${busy('paused')}: waits${what}`];
}

function answeredLines({ tool, output }: LogRecord, { good, faint }: Paint): readonly string[] {
  const what = printableLines(textOf(output)).join(' ');
  return [`${printable(textOf(tool))}  ${good('answered')}: ${what} ${faint('(no run goes on: there is none here)')}`];
}

/** Most that is named of what was saved. */
const MAX_FILES = 3;

function filesText(files: unknown, faint: Paint['faint']): string {
  const names = Array.isArray(files) ? files.map((name) => printable(textOf(name))) : [];
  if (names.length === 0) return '';
  const more = names.length > MAX_FILES ? ` and ${names.length - MAX_FILES} more` : '';
  return faint(` (${names.slice(0, MAX_FILES).join(', ')}${more})`);
}

function problemLines(problems: unknown): string[] {
  const lines = Array.isArray(problems) ? problems.map((problem) => problemLine(textOf(problem))) : [];
  return [...new Set(lines)].map((line) => `  ${line}`);
}

/**
 * As an editor's terminal understands it: the place first. Indexers put the file and a code before it, services the ids
 * of the tools that need the file; where it is in another file than that of the tool, it stands behind.
 */
export function problemLine(problem: string): string {
  const line = printableLines(problem).join(' ');
  const front = /(?:^|: )([^\s:]+:\d+(?::\d+)?: .*)$/.exec(line)?.[1];
  if (front !== undefined) return front;
  const told = line.replace(/^([^:\s]+): [a-z-]+: (?=\1: )/, '');
  // Which of the tools led there is no help: all that need the file say the same.
  return told.replace(/^[^:\s]+: (.*) \(at ([^\s:]+:\d+(?::\d+)?)\)$/, '$2: $1');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Shorter from inside the pack. */
export function within(folder: string, files: readonly string[]): string[] {
  return files.map((file) => relative(folder, file) || '.');
}
