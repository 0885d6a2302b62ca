import { LEVELS } from '../../shared/log.ts';
import type { Level, LogSettings } from '../../shared/log.ts';
import { ENV } from '../../shared/process/contract.ts';

/** Where records may go: a stream's write, and whether a person is watching it. */
export interface LogTarget {
  readonly write: (line: string) => void;
  readonly isTerminal: boolean;
}

/** The settings the `KINDGI_LOG_…` variables ask for; a bad one is a problem, and the settings are the defaults then. */
export function readLogSettings(
  env: Readonly<Record<string, string | undefined>>,
  target: LogTarget,
): { settings: LogSettings; problems: string[] } {
  const problems: string[] = [];
  const level = env[ENV.logLevel] || 'info';
  if (!isLevel(level)) problems.push(`${ENV.logLevel}: ${expectedLevel(level)}`);

  const levels = new Map<string, Level>();
  for (const part of (env[ENV.logLevels] ?? '').split(',')) {
    if (part.trim() === '') continue;
    const [subsystem = '', name = '', ...more] = part.split('=').map((word) => word.trim());
    if (subsystem !== '' && more.length === 0 && isLevel(name)) levels.set(subsystem, name);
    else problems.push(`${ENV.logLevels}: expected a list of subsystem=level, got ${JSON.stringify(part.trim())}`);
  }

  const format = env[ENV.logFormat] || 'auto';
  const isFormat = format === 'auto' || format === 'json' || format === 'pretty';
  if (!isFormat) problems.push(`${ENV.logFormat}: expected auto, json or pretty, got ${JSON.stringify(format)}`);

  const isPretty = format === 'pretty' || (format === 'auto' && target.isTerminal);
  const settings: LogSettings = {
    level: isLevel(level) ? level : 'info',
    levels,
    format: isPretty ? 'pretty' : 'json',
    write: target.write,
  };
  return { settings, problems };
}

function isLevel(name: string): name is Level {
  return (LEVELS as readonly string[]).includes(name);
}

function expectedLevel(found: string): string {
  return `expected one of ${LEVELS.join(', ')}, got ${JSON.stringify(found)}`;
}
