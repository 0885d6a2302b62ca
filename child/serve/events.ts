import { createLog, writeRecord } from '../../shared/log.ts';
import type { Fields, Level, Log, LogSettings } from '../../shared/log.ts';
import type { ServiceEvent } from '../../shared/process/contract.ts';

/** The subsystem of the service's own records (C18). */
export const SUBSYSTEM = 'pack';
/** The subsystem of what handlers log (C23). */
export const TOOL_SUBSYSTEM = 'pack.tool';

/** Events that are written whatever the log level (C20). */
const ALWAYS: ReadonlySet<ServiceEvent> = new Set([
  'config-invalid',
  'boot-failed',
  'listening',
  'draining',
  'stopped',
]);

/** Writes the service's records. In record form with `kind`, which readers of both forms understand (C19). */
export interface Events {
  write(level: Level, event: ServiceEvent, message: string, fields?: Fields): void;
  /** A record of the service that is no event. */
  readonly log: Log;
  /** The log for a handler's `ctx.log`, bound to its call. */
  toolLog(bound: Fields): Log;
}

export function createEvents(settings: LogSettings): Events {
  const log = createLog(settings, SUBSYSTEM);
  const toolLog = createLog(settings, TOOL_SUBSYSTEM);
  return {
    write(level, event, message, fields = {}) {
      if (!ALWAYS.has(event) && !log.isLevelEnabled(level)) return;
      writeRecord(settings, { level, subsystem: SUBSYSTEM, message, fields: { ...fields, event, kind: event } });
    },
    log,
    toolLog: (bound) => toolLog.child(bound),
  };
}
