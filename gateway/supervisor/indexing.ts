import type { LaunchSpec } from '../runtimes/launchSpec.ts';
import type { Exit, Launch } from './process.ts';
import { StartFailure } from './startFailure.ts';

/** What the indexer said; the index itself is in the file it was told to write. */
export interface IndexReport {
  /** Files that are not in the index, one text each. */
  readonly fileErrors: readonly string[];
  readonly warnings: readonly string[];
}

export interface IndexingOptions {
  readonly launch: Launch;
  readonly timeoutMs: number;
  /** Ends the run. */
  readonly signal: AbortSignal;
}

/**
 * One run of an indexer, which executes the pack's code: always in a process of its own. Settles when no process of it
 * is left, however it ended.
 * @throws {StartFailure} `index-failed` with the indexer's texts, `spawn-failed`, `timeout`, `cancelled`.
 */
export async function runIndexer(
  spec: LaunchSpec,
  { launch, timeoutMs, signal }: IndexingOptions,
): Promise<IndexReport> {
  const stdout = new Tail();
  const stderr = new Tail();
  const process = launch(spec, {
    onStdout: (chunk) => stdout.add(chunk),
    onStderr: (chunk) => stderr.add(chunk),
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    process.killGroup();
  }, timeoutMs);
  const kill = (): void => process.killGroup();
  signal.addEventListener('abort', kill);
  const exit = await process.finished;
  signal.removeEventListener('abort', kill);
  clearTimeout(timer);
  if (signal.aborted) throw new StartFailure('index', 'cancelled', 'ended while it was indexed');
  if (isLate) throw new StartFailure('index', 'timeout', `the index was not built after ${timeoutMs} ms`);
  if (exit.kind === 'spawn-failed') throw new StartFailure('index', 'spawn-failed', exit.reason);
  return readReport(exit, stdout.text(), stderr.text());
}

/** Both indexers end their output with one line of JSON when told `--json` (E17); the pack may print before it. */
function readReport(exit: Exit, stdout: string, stderr: string): IndexReport {
  const outcome = lastObject(stdout);
  const value = outcome?.kind === 'ok' ? (outcome.value as Record<string, unknown>) : undefined;
  if (exit.kind === 'code' && exit.code === 0 && value !== undefined) {
    return { fileErrors: texts(value.fileErrors), warnings: texts(value.warnings) };
  }
  const problem = outcome?.kind === 'err' ? describe(outcome.error) : stderr.trim().split('\n').at(-1);
  const how = exit.kind === 'code' ? `exit code ${exit.code}` : exit.kind === 'signal' ? `signal ${exit.signal}` : '';
  throw new StartFailure(
    'index',
    'index-failed',
    `the pack cannot be indexed: ${problem || how}`,
    problem ? [problem] : [],
  );
}

function lastObject(stdout: string): Record<string, unknown> | undefined {
  const line = stdout.trimEnd().split('\n').at(-1) ?? '';
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.map(describe) : [];
}

/** A file error or a pack-level error in one line (E19). */
function describe(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  const { code, message, filePath, cause } = error as Record<string, unknown>;
  const place = typeof filePath === 'string' ? placeInTraceback(filePath, cause) : undefined;
  return [filePath, code, place, message].filter((part) => typeof part === 'string').join(': ');
}

/** The released Python indexer says only in its traceback where a file goes wrong: `FILE:LINE`, where it does. */
function placeInTraceback(filePath: string, cause: unknown): string | undefined {
  const stack = typeof cause === 'object' && cause !== null ? (cause as Record<string, unknown>).stack : undefined;
  if (typeof stack !== 'string') return undefined;
  const frames = [...stack.matchAll(/^ +File "([^"\n]+)", line (\d+)/gm)];
  const line = frames.findLast(([, file = '']) => file.endsWith(`/${filePath}`))?.[2];
  return line === undefined ? undefined : `${filePath}:${line}`;
}

/** Most that is kept of an indexer's output; a pack's code runs while it is indexed and may print. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_CHUNKS = 1024;

/** The last part of what a process prints. Joined now and then, not at each chunk: that would cost a megabyte each. */
class Tail {
  #chunks: Buffer[] = [];
  #bytes = 0;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > 2 * MAX_OUTPUT_BYTES || this.#chunks.length > MAX_CHUNKS) this.#chunks = [this.#join()];
  }

  text(): string {
    return this.#join().toString('utf8');
  }

  #join(): Buffer {
    const joined = Buffer.concat(this.#chunks).subarray(-MAX_OUTPUT_BYTES);
    this.#bytes = joined.length;
    return joined;
  }
}
