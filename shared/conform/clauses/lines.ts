import { classifyLine } from '../../process/records.ts';
import type { ServiceEvent } from '../../process/contract.ts';
import type { StderrLine } from '../../process/records.ts';
import type { ServiceProcess } from '../service.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Accepts the service's own event of this name. */
export function isEvent(name: ServiceEvent): (line: StderrLine) => boolean {
  return (line) => line.type === 'event' && line.event === name;
}

/** Accepts the record of the call of this run. */
export function callRecord(runId: string): (line: StderrLine) => boolean {
  return (line) => line.type === 'event' && line.event === 'call' && line.fields.runId === runId;
}

/** The events of this name so far. */
export function eventsOf(process: ServiceProcess, name: ServiceEvent): Fields[] {
  return process
    .lines()
    .map(classifyLine)
    .flatMap((line) => (line.type === 'event' && line.event === name ? [line.fields] : []));
}

/** The fields of the first event of this name, waited for. */
export async function eventOf(process: ServiceProcess, name: ServiceEvent, withinMs?: number): Promise<Fields> {
  const line = await process.line(isEvent(name), withinMs);
  return line.type === 'output' ? {} : line.fields;
}
