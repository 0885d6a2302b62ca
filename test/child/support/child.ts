import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const DIST = process.env.PACKGATE_TEST_DIST ?? fileURLToPath(new URL('../../../dist', import.meta.url));

/** The compiled program, as it is shipped; of another build than `dist` where PACKGATE_TEST_DIST names one. */
export const CHILD_MAIN = join(DIST, 'child', 'main.js');
export const PACKS = fileURLToPath(new URL('../../fixtures/packs/', import.meta.url));
export const TOKEN = 'test-token-0123456789';

export type LogRecord = Readonly<Record<string, unknown>>;

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running `packgate-child serve`. */
export interface Child {
  readonly pid: number;
  readonly port: number;
  /** Every record written on stderr so far. */
  readonly records: readonly LogRecord[];
  /** Everything printed on stdout so far. */
  readonly stdout: () => string;
  readonly exit: Promise<ChildExit>;
  /** The first record that fits, now or later; rejects after 10 s. */
  readonly waitFor: (fits: (record: LogRecord) => boolean) => Promise<LogRecord>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Ends the process, whatever it is doing. */
  readonly stop: () => Promise<void>;
}

export interface ChildOptions {
  readonly index: string;
  readonly moduleRoot?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What runs it. Default: the Node that runs the tests. */
  readonly node?: string;
}

/** Starts the service and waits until it listens. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { process: child, records, waitFor, exit, stdout } = launch(options);
  const gone = exit.then(({ code, signal }) => {
    throw new Error(`the child ended before it listened: ${code ?? signal}: ${JSON.stringify(records)}`);
  });
  gone.catch(() => undefined);
  const listening = await Promise.race([waitFor(({ event }) => event === 'listening'), gone]).catch(
    (error: unknown) => {
      child.kill('SIGKILL');
      throw error;
    },
  );
  return {
    pid: child.pid ?? 0,
    port: Number(listening.port),
    records,
    stdout,
    exit,
    waitFor,
    kill: (signal) => void child.kill(signal),
    async stop() {
      // In order where it can be, so that nothing temporary is left: the second signal cuts calls, the last is for a hung one.
      for (const signal of ['SIGTERM', 'SIGTERM', 'SIGKILL'] as const) {
        child.kill(signal);
        if (await Promise.race([exit.then(() => true), sleep(500, false)])) break;
      }
      await exit;
    },
  };
}

/** Runs a start that is expected to end by itself. */
export async function runChild(
  options: ChildOptions,
): Promise<ChildExit & { records: readonly LogRecord[]; stderr: string }> {
  const { process: child, exit, records, stderr } = launch(options);
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
  const ended = await exit;
  clearTimeout(timer);
  return { ...ended, records, stderr: stderr() };
}

/** The problems of the one `boot-failed` or `config-invalid` line of a start that failed. */
export async function problemsOf(options: ChildOptions): Promise<{ event: unknown; problems: string[] }> {
  const { code, records, stderr } = await runChild(options);
  const failures = records.filter(({ event }) => event === 'boot-failed' || event === 'config-invalid');
  if (code !== 1 || failures.length !== 1) throw new Error(`expected one failure and exit 1, got ${code}: ${stderr}`);
  return { event: failures[0]?.event, problems: failures[0]?.problems as string[] };
}

/** Runs a command of the program to its end. */
export async function runCommand(
  args: readonly string[],
  options: { cwd?: string; env?: Readonly<Record<string, string>>; node?: string } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const env = { PATH: process.env.PATH ?? '', ...options.env };
  const child = spawn(options.node ?? process.execPath, [CHILD_MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
    cwd: options.cwd,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { code, stdout, stderr };
}

/** Indexes a fixture pack into `output`; its file errors fail the test. */
export async function indexPack(packDir: string, output: string): Promise<void> {
  const args = ['index', '--pack-dir', packDir, '--output', output, '--strict'];
  const { code, stdout, stderr } = await runCommand([...args, '--artifact-version', '20260101.1']);
  if (code !== 0) throw new Error(`${packDir} cannot be indexed: ${stdout}${stderr}`);
}

function launch({ index, moduleRoot, args = [], env = {}, node = process.execPath }: ChildOptions) {
  const rootArgs = moduleRoot === undefined ? [] : ['--module-root', moduleRoot];
  const argv = [CHILD_MAIN, 'serve', '--index', index, ...rootArgs, '--host', '127.0.0.1', ...args];
  const child = spawn(node, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', PORT: '0', KINDGI_PACK_SERVICE_TOKEN: TOKEN, ...env },
  });
  const records: LogRecord[] = [];
  const waiting = new Set<(record: LogRecord) => void>();
  let stderr = '';
  let stdout = '';
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const record = parseRecord(line);
      if (record === undefined) continue;
      records.push(record);
      for (const notify of waiting) notify(record);
    }
  });
  const exit = once(child, 'close').then(([code, signal]): ChildExit => ({ code, signal }) as ChildExit);
  const waitFor = (fits: (record: LogRecord) => boolean): Promise<LogRecord> => {
    const known = records.find(fits);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const notify = (record: LogRecord): void => {
        if (!fits(record)) return;
        waiting.delete(notify);
        clearTimeout(timer);
        resolve(record);
      };
      const timer = setTimeout(() => {
        waiting.delete(notify);
        reject(new Error(`no such record within 10 s: ${JSON.stringify(records)}`));
      }, 10_000);
      // The timer of a wait that lost its race must not hold the test run up.
      timer.unref();
      waiting.add(notify);
    });
  };
  return { process: child, records, exit, waitFor, stdout: () => stdout, stderr: () => stderr };
}

function parseRecord(line: string): LogRecord | undefined {
  try {
    return JSON.parse(line) as LogRecord;
  } catch {
    return undefined;
  }
}

/** Polls until the condition holds, for at most 10 s. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const end = performance.now() + 10_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within 10 s: ${what}`);
    await sleep(5);
  }
}

/** Waits until so many calls of `calls.sleep` have begun, counted from the process's start. */
export function untilSleeping(child: Child, count: number): Promise<void> {
  return until(`${count} calls sleep`, () => child.stdout().split('sleeping\n').length > count);
}

/** The folder of a fixture pack. */
export function packFolder(name: string): string {
  return join(PACKS, name);
}
