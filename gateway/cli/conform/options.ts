import { parseDurationMs } from '../../config/units.ts';
import { UsageError } from '../command.ts';
import type { Options, Values } from '../command.ts';
import { LANGUAGES } from './prepare.ts';
import type { Language } from './prepare.ts';

const DEFAULT_JOBS = 4;
const MAX_JOBS = 64;
const DEFAULT_LIMIT_MS = 15 * 60_000;

export const CONFORM_OPTIONS = {
  url: { type: 'string', value: 'url', help: 'a service that runs there: what can be seen over HTTP is checked' },
  'token-env': { type: 'string', value: 'name', help: 'the environment variable that holds its token' },
  tenant: { type: 'string', value: 'id', help: 'the tenant it is pinned to' },
  language: {
    type: 'string',
    value: LANGUAGES.join('|'),
    help: 'which conformance pack the command gets (default: python for Python, else js)',
  },
  pack: { type: 'string', value: 'folder', help: 'a conformance pack of your own instead' },
  index: { type: 'string', value: 'file', help: 'its index (default: it is built)' },
  only: {
    type: 'string',
    value: 'clauses',
    help: 'only these: groups, numbers, names, such as A,B12,C37/before-listening',
  },
  list: { type: 'boolean', help: 'show the checks and do none of them' },
  tap: { type: 'boolean', help: 'print TAP' },
  junit: { type: 'string', value: 'file', help: 'write XML for JUnit into this file as well' },
  jobs: { type: 'string', value: 'number', help: `how many checks run at once (default: ${DEFAULT_JOBS})` },
  limit: { type: 'string', value: 'duration', help: 'longest time for all of it (default: 15m)' },
} as const satisfies Options;

type ConformValues = Values<typeof CONFORM_OPTIONS>;

/** @throws {UsageError} */
export function jobsOf({ jobs }: ConformValues): number {
  if (jobs === undefined) return DEFAULT_JOBS;
  const number = Number(jobs);
  if (/^\d+$/.test(jobs) && number >= 1 && number <= MAX_JOBS) return number;
  throw new UsageError(`--jobs ${jobs} is no number from 1 to ${MAX_JOBS}`, 'Write --jobs 4.');
}

/** @throws {UsageError} */
export function limitMsOf({ limit }: ConformValues): number {
  const ms = limit === undefined ? DEFAULT_LIMIT_MS : parseDurationMs(limit);
  if (ms !== undefined && ms > 0) return ms;
  throw new UsageError(`--limit ${limit} is no duration`, 'Write it with its unit, such as 90s or 5m.');
}

/** @throws {UsageError} */
export function languageOf({ language, pack }: ConformValues): Language | undefined {
  if (language === undefined) return undefined;
  if (pack !== undefined) throw new UsageError('--language and --pack do not go together', 'Leave one of them out.');
  const known = LANGUAGES.find((name) => name === language);
  if (known !== undefined) return known;
  throw new UsageError(`--language ${language} is not known`, `Known are ${LANGUAGES.join(', ')}.`);
}

/**
 * The token of a service that runs; never given on a command line, which everybody on the machine can read.
 * @throws {UsageError}
 */
export function tokenOf(options: ConformValues, env: Readonly<Record<string, string | undefined>>): string {
  const name = options['token-env'];
  if (name === undefined) throw new UsageError('--url needs --token-env', 'Name the variable that holds its token.');
  const token = env[name]?.trim() ?? '';
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new UsageError(`the variable ${name} holds no token`, 'A token is printable ASCII without blanks.');
}
