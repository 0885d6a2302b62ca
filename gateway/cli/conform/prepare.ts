import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT } from '../../../shared/process/contract.ts';
import type { LaunchSpec } from '../../runtimes/launchSpec.ts';
import { runIndexer } from '../../supervisor/indexing.ts';
import type { Launch } from '../../supervisor/process.ts';
import { CommandError, UsageError } from '../command.ts';
import { printable } from '../printable.ts';
import { readPack } from './conformancePack.ts';
import type { ConformancePack } from './conformancePack.ts';

/** The languages in which the conformance pack comes with packgate. */
export const LANGUAGES = ['js', 'ts', 'python'] as const;
export type Language = (typeof LANGUAGES)[number];

const CHILD_PROGRAM = fileURLToPath(new URL('../../../child/main.js', import.meta.url));

/** How long an indexer may take, in milliseconds. */
const INDEXING_MS = 60_000;

/** Version and time are pinned, so that two runs are about the same bytes (E13). */
const PINNED = ['--artifact-version', '20250101.1', '--published-at', '2025-01-01T00:00:00.000Z'];

export interface PackChoice {
  /** Absolute path of a pack of the user's own. */
  readonly packDir: string | undefined;
  /** Absolute path of its index; undefined: built. */
  readonly indexPath: string | undefined;
  readonly language: Language | undefined;
  /** The command of the service. */
  readonly command: readonly string[];
}

export interface IndexingPlace {
  readonly launch: Launch;
  /** A folder for the index. */
  readonly folder: string;
  readonly cwd: string;
  readonly path: string | undefined;
  readonly signal: AbortSignal;
  /** Is told what is worth knowing and no failure, a sentence each. */
  readonly warn: (text: string) => void;
}

/** Without it next to nothing can be looked at, and that nothing was found would say nothing. */
const LEAST_TOOL = 'conformance.echo';

/**
 * The pack that the service is to serve, with its index.
 * @throws {CommandError} when there is none, or it cannot be indexed.
 */
export async function preparePack(choice: PackChoice, place: IndexingPlace): Promise<ConformancePack> {
  const dir = choice.packDir ?? shippedPack(choice.language ?? languageOf(choice.command));
  const indexPath = choice.indexPath ?? (await buildIndex(dir, choice.command, place));
  const pack = readPackOf(dir, indexPath);
  if (pack.index.tools.some(({ id }) => id === LEAST_TOOL)) return pack;
  const hint = 'Take one of those that come with packgate (--language), or write one like them.';
  throw new CommandError(EXIT.failed, `${indexPath} has no tool ${LEAST_TOOL}: it is not of a conformance pack`, hint);
}

/**
 * The pack in `dir` with a built index.
 * @throws {CommandError} when that is none.
 */
export function readPackOf(dir: string, indexPath: string): ConformancePack {
  try {
    return readPack(dir, indexPath);
  } catch (error) {
    const why = printable(error instanceof Error ? error.message : String(error));
    throw new CommandError(EXIT.failed, `${indexPath} is no index of a pack: ${why}`, 'Name another with --index.');
  }
}

/** Python where Python is what runs; else JavaScript. */
function languageOf([program = '']: readonly string[]): Language {
  return basename(program).startsWith('python') ? 'python' : 'js';
}

function shippedPack(language: Language): string {
  const name = `conformance-${language}`;
  for (let at = import.meta.dirname; at !== dirname(at); at = dirname(at)) {
    const dir = resolve(at, 'test', 'fixtures', 'packs', name);
    if (existsSync(dir)) return dir;
  }
  throw new CommandError(EXIT.failed, `the pack ${name} is not where packgate is installed`, 'Name one with --pack.');
}

async function buildIndex(
  dir: string,
  command: readonly string[],
  { launch, folder, cwd, path, signal, warn }: IndexingPlace,
): Promise<string> {
  const indexPath = join(folder, 'index.json');
  const [program = '', ...first] = indexerFor(dir, command);
  const args = [...first, '--pack-dir', dir, '--output', indexPath, '--json', ...PINNED];
  const env = { PATH: path ?? '/usr/local/bin:/usr/bin:/bin', HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8' };
  const spec: LaunchSpec = { command: program, args, cwd, env: { ...env, PYTHONDONTWRITEBYTECODE: '1' } };
  try {
    const { fileErrors } = await runIndexer(spec, { launch, timeoutMs: INDEXING_MS, signal });
    for (const error of fileErrors) warn(`not in the index of the pack: ${printable(error)}`);
  } catch (error) {
    const why = printable(error instanceof Error ? error.message : String(error));
    throw new CommandError(
      EXIT.failed,
      `the index of ${dir} cannot be built: ${why}`,
      'Name a built one with --index.',
    );
  }
  return indexPath;
}

/** Command and first arguments of what indexes the pack: ours for Node packs, for Python ones the service's own program. */
function indexerFor(dir: string, command: readonly string[]): readonly string[] {
  let files: readonly string[];
  try {
    files = readdirSync(dir);
  } catch {
    throw new UsageError(`there is no folder ${dir}`, 'Name the folder of a pack with --pack.');
  }
  if (files.some((file) => file.startsWith('kindgi.config.'))) return [process.execPath, CHILD_PROGRAM, 'index'];
  if (files.includes('pyproject.toml') && command.at(-1) === 'serve') return [...command.slice(0, -1), 'index'];
  throw new UsageError(`it is not known how ${dir} is indexed`, 'Name a built index with --index.');
}
