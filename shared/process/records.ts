import { SERVICE_EVENTS } from './contract.ts';
import type { ServiceEvent } from './contract.ts';

/**
 * What one line of a service's stderr is (C24). `event`: the service's own lifecycle event, in record form or bare.
 * `record`: a log record that is no event of the service (a handler's `ctx.log`). `output`: anything else that was
 * printed. Pack code shares the stream and can forge every one of them (C25): none is proof of anything.
 */
export type StderrLine =
  | { readonly type: 'event'; readonly event: ServiceEvent; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly type: 'record'; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly type: 'output'; readonly text: string };

/**
 * A record nested deeper than this is output: whoever writes it again, to a log, would run out of stack at some
 * thousands. Real records are flat.
 */
const MAX_DEPTH = 100;

const EVENTS: ReadonlySet<unknown> = new Set(SERVICE_EVENTS);

/** Classifies one line without its line end. Never throws. */
export function classifyLine(line: string): StderrLine {
  const fields = parseObject(line);
  if (fields === undefined) return { type: 'output', text: line };
  if (isRecord(fields)) {
    const isOwn = fields.subsystem === 'pack' && EVENTS.has(fields.event);
    return isOwn ? { type: 'event', event: fields.event as ServiceEvent, fields } : { type: 'record', fields };
  }
  return EVENTS.has(fields.kind)
    ? { type: 'event', event: fields.kind as ServiceEvent, fields }
    : { type: 'output', text: line };
}

/** The texts of a `boot-failed` or `config-invalid` line, or the names of a `missing-env` line; strings only. */
export function stringList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function isRecord(fields: Readonly<Record<string, unknown>>): boolean {
  return ['time', 'level', 'subsystem', 'message'].every((key) => typeof fields[key] === 'string');
}

function parseObject(line: string): Record<string, unknown> | undefined {
  if (!line.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) && !isNestedDeeper(line, MAX_DEPTH)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the text of a JSON value has more brackets open at once than `depth`; those inside strings do not count. */
function isNestedDeeper(json: string, depth: number): boolean {
  let open = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (isInString) {
      if (character === '\\') at += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '[' || character === '{') open += 1;
    else if (character === ']' || character === '}') open -= 1;
    if (open > depth) return true;
  }
  return false;
}
