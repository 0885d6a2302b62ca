import { redact } from './redact.ts';

/** Levels from the gravest to the most talkative (C.2). */
export const LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type Level = (typeof LEVELS)[number];

export type Fields = Readonly<Record<string, unknown>>;

/** Writes records of one subsystem. What handlers get as `ctx.log` (D32), too. */
export interface Log {
  error(message: string, fields?: unknown): void;
  warn(message: string, fields?: unknown): void;
  info(message: string, fields?: unknown): void;
  debug(message: string, fields?: unknown): void;
  trace(message: string, fields?: unknown): void;
  /** The same log with `fields` added to every record. */
  child(fields: unknown): Log;
  isLevelEnabled(level: Level): boolean;
}

/** Where records go and which of them are written. */
export interface LogSettings {
  readonly level: Level;
  /** Levels of subsystems; the longest dotted prefix wins (`pack` covers `pack.tool`). */
  readonly levels: ReadonlyMap<string, Level>;
  readonly format: 'json' | 'pretty';
  /** Takes one line with its line end. */
  readonly write: (line: string) => void;
}

const SEVERITY: Readonly<Record<Level, string>> = {
  error: 'ERROR',
  warn: 'WARNING',
  info: 'INFO',
  debug: 'DEBUG',
  trace: 'DEBUG',
};

/** A log of `subsystem` that writes one record per line (C18), redacted (C27), and obeys the levels of `settings`. */
export function createLog(settings: LogSettings, subsystem: string, bound: Fields = {}): Log {
  const limit = LEVELS.indexOf(levelOf(settings, subsystem));
  const writer =
    (level: Level) =>
    (message: string, fields?: unknown): void => {
      if (LEVELS.indexOf(level) > limit) return;
      writeRecord(settings, { level, subsystem, message, fields: { ...bound, ...asFields(fields) } });
    };
  return {
    error: writer('error'),
    warn: writer('warn'),
    info: writer('info'),
    debug: writer('debug'),
    trace: writer('trace'),
    child: (fields) => createLog(settings, subsystem, { ...bound, ...asFields(fields) }),
    isLevelEnabled: (level) => LEVELS.indexOf(level) <= limit,
  };
}

/** One record, whatever the levels say (lifecycle events are written always, C20). */
export function writeRecord(
  settings: LogSettings,
  record: { level: Level; subsystem: string; message: string; fields: Fields },
): void {
  const { level, subsystem } = record;
  const fields = redact(record.fields) as Record<string, unknown>;
  const message = redact(String(record.message)) as string;
  const common = { time: new Date().toISOString(), level, severity: SEVERITY[level], subsystem, message };
  // The common fields come first for readers and are set last, so that no field of pack code can replace one.
  settings.write(
    settings.format === 'json' ? `${JSON.stringify({ ...common, ...fields, ...common })}\n` : pretty(common, fields),
  );
}

/** The level in force for `subsystem`. */
function levelOf(settings: LogSettings, subsystem: string): Level {
  for (let name = subsystem; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    const level = settings.levels.get(name);
    if (level !== undefined) return level;
  }
  return settings.level;
}

/** Pack code passes what it likes: an object is taken as it is, anything else gets a name. */
function asFields(fields: unknown): Fields {
  if (fields === undefined || fields === null) return {};
  if (fields instanceof Error) return { error: fields };
  return typeof fields === 'object' && !Array.isArray(fields) ? (fields as Fields) : { value: fields };
}

function pretty(common: { time: string; level: Level; subsystem: string; message: string }, fields: Fields): string {
  const said = new Set(Array.isArray(fields.inMessage) ? [...(fields.inMessage as unknown[]), 'inMessage'] : []);
  const rest = Object.entries(fields)
    .filter(([name, value]) => !said.has(name) && value !== undefined)
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const { time, level, subsystem, message } = common;
  return `${time.slice(11, 23)} ${level.toUpperCase().padEnd(5)} [${subsystem}] ${message}${rest.join('')}\n`;
}
