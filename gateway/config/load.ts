import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { MAX_BODY_BYTES } from '../../shared/protocol/limits.ts';
import type { Configuration } from './configuration.ts';
import { readDeployments } from './deployments.ts';
import { describe } from './describe.ts';
import { isFile, troubleOf } from './files.ts';
import { judge } from './judge.ts';
import { readListen } from './listen.ts';
import type { Problem, Warning } from './problem.ts';
import { Report } from './report.ts';
import { checkRoutes, warnOfUnreachable } from './routes.ts';
import { readSource } from './source.ts';
import type { Surroundings } from './surroundings.ts';
import { readTokens } from './tokens.ts';
import { parseSizeBytes } from './units.ts';

/** A configuration that can be used, or everything that keeps it from being used. */
export type Loaded = { readonly warnings: readonly Warning[] } & (
  { readonly configuration: Configuration } | { readonly problems: readonly Problem[] }
);

const DEFAULT_STATE_DIR = '.packgate';
const DEFAULT_BODIES_BYTES = 64 * 1024 * 1024;
/** A tenant's quarter must hold one body of the greatest length. */
const MIN_BODIES_BYTES = 4 * MAX_BODY_BYTES;

/**
 * Reads and judges a configuration file, and looks at everything it names: folders, indexes, executables, secrets.
 * Nothing is started, imported or written. `file` counts from `cwd`, the paths in it from its own folder; `env` is the
 * gateway's environment. Never throws for what is in the file; the configuration is frozen deeply.
 */
export async function load(
  file: string,
  { env, cwd }: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string },
): Promise<Loaded> {
  const path = resolve(cwd, file);
  const shown = shownPath(path, cwd);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const todo = 'Name another with -c <file>';
    const problem = { file: shown, path: '', expected: 'a configuration file', got: troubleOf(error), todo };
    return { problems: [problem], warnings: [] };
  }
  const source = readSource(text);
  const report = new Report(shown, source);
  const surroundings = { env, folder: dirname(path), report };
  const configuration = source.value === undefined ? undefined : await read(path, source.value, surroundings);
  const { problems, warnings } = report;
  if (configuration === undefined || problems.length > 0) return { problems, warnings };
  return { configuration: freeze(configuration), warnings };
}

async function read(file: string, value: unknown, surroundings: Surroundings): Promise<Configuration> {
  const raw = judge(value, surroundings.report);
  const deployments = await readDeployments(raw, surroundings);
  const tokens = await readTokens(raw, surroundings);
  checkRoutes(raw, surroundings);
  const configuration = {
    file,
    listen: readListen(raw.listen, surroundings),
    stateDir: await readStateDir(raw.stateDir, surroundings),
    tokens,
    bodiesBytes: readBodies(raw.bodies, surroundings),
    deployments,
  };
  // What is unreachable by mistake is not known before the mistakes are mended.
  if (surroundings.report.problems.length === 0) warnOfUnreachable(raw, deployments, tokens, surroundings);
  return configuration;
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
