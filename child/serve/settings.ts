import { resolve, dirname } from 'node:path';

import { ENV } from '../../shared/process/contract.ts';
import type { EnvCheck, EnvFilter } from '../../shared/process/contract.ts';
import { NO_TENANT_ID, parseTenantId } from '../../shared/protocol/tenantId.ts';
import type { TenantId } from '../../shared/protocol/tenantId.ts';

/** What a pack service was told by arguments and environment (C.1, C.2); every path absolute. */
export interface ServeSettings {
  readonly index: string;
  readonly moduleRoot: string;
  /** Undefined: every interface. */
  readonly host: string | undefined;
  readonly bundleMap: string | undefined;
  readonly token: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Calls in flight before a further one is refused. */
  readonly maxConcurrency: number;
  readonly envCheck: EnvCheck;
  readonly envFilter: EnvFilter;
  /** Undefined: not pinned to a tenant. */
  readonly tenant: TenantId | undefined;
}

const DEFAULT_INDEX = '/app/index.json';
const ARGUMENTS = ['--index', '--module-root', '--host', '--bundle-map'] as const;
type Argument = (typeof ARGUMENTS)[number];

/**
 * Reads arguments and environment. Only the two-word form of an argument counts and unknown ones are ignored (C1).
 * All problems are found, not the first; no problem repeats a value that may be a secret.
 */
export function readServeSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): { settings: ServeSettings } | { problems: string[] } {
  const problems: string[] = [];
  const given = readArguments(args, problems);
  const index = resolve(cwd, given.get('--index') ?? (env[ENV.index] || DEFAULT_INDEX));
  const moduleRoot = given.get('--module-root');
  const bundleMap = given.get('--bundle-map');
  const settings: ServeSettings = {
    index,
    moduleRoot: moduleRoot === undefined ? dirname(index) : resolve(cwd, moduleRoot),
    host: given.get('--host'),
    bundleMap: bundleMap === undefined ? undefined : resolve(cwd, bundleMap),
    token: readToken(env[ENV.token], problems),
    port: readWholeNumber(ENV.port, env[ENV.port], { fallback: 8080, min: 0, max: 65_535 }, problems),
    maxConcurrency: readWholeNumber(
      ENV.maxConcurrency,
      env[ENV.maxConcurrency],
      { fallback: 32, min: 1, max: Number.MAX_SAFE_INTEGER },
      problems,
    ),
    envCheck: readChoice(ENV.envCheck, env[ENV.envCheck], ['strict', 'warn'], problems),
    envFilter: readChoice(ENV.envFilter, env[ENV.envFilter], ['on', 'off'], problems),
    tenant: readTenant(env[ENV.tenantId], problems),
  };
  return problems.length > 0 ? { problems } : { settings };
}

function readArguments(args: readonly string[], problems: string[]): Map<Argument, string> {
  const given = new Map<Argument, string>();
  for (let at = 0; at < args.length; at += 1) {
    const name = ARGUMENTS.find((argument) => argument === args[at]);
    if (name === undefined) continue;
    at += 1;
    const value = args[at];
    if (value === undefined || value === '') problems.push(`${name}: expected a value after it, got none`);
    else given.set(name, value);
  }
  return given;
}

function readToken(text: string | undefined, problems: string[]): string {
  const token = (text ?? '').trim();
  if (token === '') problems.push(`${ENV.token} is required: set it to the token that callers send`);
  else if (!/^[\x21-\x7e]+$/.test(token)) {
    problems.push(`${ENV.token}: expected printable ASCII without blanks, got other characters`);
  }
  return token;
}

function readWholeNumber(
  name: string,
  text: string | undefined,
  { fallback, min, max }: { fallback: number; min: number; max: number },
  problems: string[],
): number {
  if (text === undefined) return fallback;
  const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  problems.push(`${name}: expected a whole number ${range} in digits, got ${JSON.stringify(text)}`);
  return fallback;
}

function readChoice<Choice extends string>(
  name: string,
  text: string | undefined,
  [first, second]: readonly [Choice, Choice],
  problems: string[],
): Choice {
  if (text === undefined || text === '' || text === first) return first;
  if (text === second) return second;
  problems.push(`${name}: expected ${first} or ${second}, got ${JSON.stringify(text)}`);
  return first;
}

function readTenant(text: string | undefined, problems: string[]): TenantId | undefined {
  const trimmed = (text ?? '').trim();
  if (trimmed === '') return undefined;
  const tenant = parseTenantId(trimmed);
  if (tenant === undefined) {
    problems.push(`${ENV.tenantId}: expected 1 to 128 printable ASCII characters without blanks, got other characters`);
  } else if (tenant.key === NO_TENANT_ID) {
    problems.push(`${ENV.tenantId}: ${NO_TENANT_ID} stands for "no tenant"; no call would ever match it`);
    return undefined;
  }
  return tenant;
}
