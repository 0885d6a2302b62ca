import { availableParallelism } from 'node:os';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { MAX_BODY_BYTES } from '../../shared/protocol/limits.ts';
import { readAdmin } from './admin.ts';
import { defaultAdminSocket } from './adminSocket.ts';
import type { Configuration, ListenAddress } from './configuration.ts';
import { readDeployments } from './deployments.ts';
import { describe } from './describe.ts';
import { readFaults } from './faults.ts';
import { isFile } from './files.ts';
import { judge } from './judge.ts';
import { readListen } from './listen.ts';
import type { Problem, Warning } from './problem.ts';
import type { RawConfiguration } from './raw.ts';
import { Report } from './report.ts';
import { checkRoutes, warnOfUnreachable } from './routes.ts';
import { TENANTS_EXPECTED } from './schema.ts';
import { readSource } from './source.ts';
import { readPart } from './surroundings.ts';
import type { Surroundings } from './surroundings.ts';
import { readTenantsDir } from './tenantsDir.ts';
import { readTokens } from './tokens.ts';
import { parseSizeBytes } from './units.ts';

/** A configuration that can be used, or everything that keeps it from being used. */
export type Loaded = {
  readonly warnings: readonly Warning[];
  /** What was looked at, as in `Configuration.sources`: a problem goes away by a change of one of these. */
  readonly sources: readonly string[];
} & ({ readonly configuration: Configuration } | { readonly problems: readonly Problem[] });

/** What a configuration is read with. */
export interface LoadOptions {
  /** The gateway's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Instead of what the file says. */
  readonly listen?: ListenAddress;
  readonly stateDir?: string;
  /** Of an earlier reading of the same file, so that what came out of a pipe is still known. Default: none. */
  readonly pipes?: Map<string, string>;
  /** Whether the process may have faults on order. Default: no; a configuration with some is refused then. */
  readonly allowFaults?: boolean;
  /** Where its paths count from. Default: the folder of the file. */
  readonly folder?: string;
}

const DEFAULT_STATE_DIR = '.packgate';
const DEFAULT_BODIES_BYTES = 64 * 1024 * 1024;
/** A tenant's quarter must hold one body of the greatest length. */
const MIN_BODIES_BYTES = 4 * MAX_BODY_BYTES;
const MIN_MEMORY_BYTES = 2 ** 20;
const MAX_FILE_BYTES = 16 * 2 ** 20;
/** With one core there is still something to do while a process waits for its disk. */
const MIN_DEFAULT_BOOTS = 2;

/**
 * Reads and judges a configuration file, and looks at everything it names: folders, indexes, executables, secrets.
 * Nothing is started, imported or written. `file` counts from `cwd`, the paths in it from its own folder, those in
 * a tenant's file from that file's. Never throws for what is in the files; the configuration is frozen deeply.
 */
export async function load(file: string, options: LoadOptions): Promise<Loaded> {
  const { env, cwd, pipes = new Map<string, string>() } = options;
  const path = resolve(cwd, file);
  const shown = (part: string): string => shownPath(part, cwd);
  const sources = new Set<string>();
  const found = await readPart(path, MAX_FILE_BYTES, { sources, pipes });
  if ('trouble' in found) {
    const todo = 'Name another with -c <file>';
    const problem = { file: shown(path), path: '', expected: 'a configuration file', got: found.trouble, todo };
    return { problems: [problem], warnings: [], sources: [...sources] };
  }
  const source = readSource(found.text);
  const report = new Report(shown(path), source);
  const surroundings = { env, folder: options.folder ?? dirname(path), report, sources, pipes, shown };
  const configuration = source.value === undefined ? undefined : await read(path, source.value, options, surroundings);
  const { problems, warnings } = report;
  const said = { warnings, sources: [...sources] };
  if (configuration === undefined || problems.length > 0) return { problems, ...said };
  return { configuration: freeze(configuration), ...said };
}

async function read(
  file: string,
  value: unknown,
  options: LoadOptions,
  surroundings: Surroundings,
): Promise<Configuration | undefined> {
  const judged = judge(value, surroundings.report);
  if (judged === undefined) return undefined;
  const { tenants, folders } = await readTenantsDir(judged, surroundings);
  const raw = { ...judged, ...((judged.tenants ?? judged.tenantsDir) !== undefined && { tenants }) };
  checkTenants(raw, surroundings);
  const deployments = await readDeployments(raw, folders, surroundings);
  const tokens = await readTokens(raw, surroundings);
  checkRoutes(raw, surroundings);
  const faults = readFaults(raw, options.allowFaults === true, surroundings);
  const listen = options.listen ?? readListen(raw.listen, surroundings);
  const stateDir = options.stateDir ?? (await readStateDir(raw.stateDir, surroundings));
  const defaultSocket = defaultAdminSocket(stateDir, surroundings.env.TMPDIR ?? '/tmp', process.getuid?.() ?? 0);
  const configuration = {
    file,
    listen,
    stateDir,
    tokens,
    bodiesBytes: readBodies(raw.bodies, surroundings),
    admin: await readAdmin(raw, { listen, tokens, defaultSocket }, surroundings),
    memoryBytes: readMemory(raw.memory, surroundings),
    boots: raw.boots ?? Math.max(MIN_DEFAULT_BOOTS, availableParallelism()),
    deployments,
    ...(faults.length > 0 && { faults }),
    sources: [...surroundings.sources],
  };
  // What is unreachable by mistake is not known before the mistakes are mended.
  if (surroundings.report.problems.length === 0) warnOfUnreachable(raw, deployments, tokens, surroundings);
  return configuration;
}

/** Without a folder for more of them, there must be a tenant here. */
function checkTenants({ tenants, tenantsDir }: RawConfiguration, { report }: Surroundings): void {
  const isEmpty = tenants === undefined || Object.keys(tenants).length === 0;
  if (!isEmpty || tenantsDir !== undefined || report.isBad(['tenants']) || report.isBad(['tenantsDir'])) return;
  const got = tenants === undefined ? 'nothing' : 'an empty mapping';
  report.problem(['tenants'], { expected: TENANTS_EXPECTED, got, at: tenants === undefined ? 'key' : 'value' });
}

async function readStateDir(stateDir: string = DEFAULT_STATE_DIR, { folder, report }: Surroundings): Promise<string> {
  const path = resolve(folder, stateDir);
  if (await isFile(path)) {
    report.problem(['stateDir'], { expected: 'the path of a folder (it may be missing yet)', got: 'a file' });
  }
  return path;
}

function readBodies(bodies: string | undefined, { report }: Surroundings): number {
  if (bodies === undefined) return DEFAULT_BODIES_BYTES;
  const bytes = parseSizeBytes(bodies);
  if (bytes !== undefined && bytes >= MIN_BODIES_BYTES) return bytes;
  const expected =
    bytes === undefined ? 'a size that can be counted' : 'at least "40MiB": a quarter must hold one body of 10 MiB';
  report.problem(['bodies'], { expected, got: describe(bodies) });
  return DEFAULT_BODIES_BYTES;
}

function readMemory(memory: string | undefined, { report }: Surroundings): number {
  if (memory === undefined) return Number.POSITIVE_INFINITY;
  const bytes = parseSizeBytes(memory);
  if (bytes !== undefined && bytes >= MIN_MEMORY_BYTES) return bytes;
  const expected = bytes === undefined ? 'a size that can be counted' : 'at least "1MiB"';
  report.problem(['memory'], { expected, got: describe(memory) });
  return Number.POSITIVE_INFINITY;
}

/** As the reader knows it: relative where it is below the working folder. */
function shownPath(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short;
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) freeze(part);
  }
  return value;
}
