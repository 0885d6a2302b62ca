import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { AtEnd } from './atEnd.ts';
import type { Endpoint } from './calls.ts';
import { until } from './files.ts';
import type { LogRecord, ProcessExit } from './gateway.ts';
import { commandLineOf, killProcess, processesStartedIn } from './processes.ts';

const DIST = process.env.PACKGATE_TEST_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));
const MAIN = join(DIST, 'gateway', 'main.js');

export interface DevLoopOptions {
  /** The test's folder: packs are looked for in `packs` in it, and its processes are known by it. */
  readonly folder: string;
  /** After `packgate dev`; default: the folder of packs, and any port. */
  readonly args?: readonly string[];
  /** `terminal`: on a pseudo-terminal that it is shown on; default: without one, so that it writes records. */
  readonly as?: 'terminal';
  readonly env?: Readonly<Record<string, string>>;
  /** Not waited for: it is to fail. */
  readonly fails?: true;
}

/** `packgate dev` as a real process. It and everything it started is ended, by pid, when the test ends. */
export interface RunningLoop extends Endpoint {
  readonly pid: number;
  /** Everything written so far, as it came. */
  readonly output: () => string;
  readonly records: () => readonly LogRecord[];
  /** A record that fits, awaited when it is not there yet; of those after the first `from`. */
  readonly waitForRecord: (
    fits: (record: LogRecord) => boolean,
    from?: number,
    withinMs?: number,
  ) => Promise<LogRecord>;
  /** Awaits a text on the terminal, colours taken off; of what comes after the first `from` characters. */
  readonly waitForText: (pattern: RegExp, from?: number) => Promise<RegExpExecArray>;
  readonly type: (text: string) => void;
  /** Closes its terminal as a broken connection does. */
  readonly hangUp: () => void;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Of the process; of the terminal's program where it runs on one. */
  readonly exit: Promise<ProcessExit>;
}

/** Where its packs are. */
export function packsFolder(folder: string): string {
  const packs = join(folder, 'packs');
  mkdirSync(packs, { recursive: true });
  return packs;
}

/** As it looks without colours. */
export function plainText(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/\u001b\[\d+m/g, '').replaceAll('\r\n', '\n');
}

export async function startDevLoop(options: DevLoopOptions, atEnd: AtEnd = onTestFinished): Promise<RunningLoop> {
  if (!existsSync(MAIN)) throw new Error('dist is missing: run `npm run build` first');
  const { folder, args = [packsFolder(folder), '--port', '0'], as, env } = options;
  const words = [process.execPath, MAIN, 'dev', ...args];
  const [program = '', ...rest] =
    as === 'terminal' ? ['script', '-qefc', `exec ${words.map((word) => `'${word}'`).join(' ')}`, '/dev/null'] : words;
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  const child = spawn(program, rest, {
    cwd: folder,
    env: { PATH: process.env.PATH, TMPDIR: temporary, TERM: 'xterm', ...env },
    stdio: [as === 'terminal' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  atEnd(async () => {
    child.kill('SIGKILL');
    await until('no process of the test is left', () => {
      const left = processesStartedIn(folder);
      left.forEach(killProcess);
      return left.length === 0;
    });
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const exit = new Promise<ProcessExit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const records = (): LogRecord[] =>
    output
      .slice(0, output.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogRecord);
  const waitForRecord: RunningLoop['waitForRecord'] = (fits, from = 0, withinMs = 20_000) =>
    until('a record that fits', () => records().slice(from).find(fits), withinMs);
  const waitForText: RunningLoop['waitForText'] = (pattern, from = 0) =>
    until(`${String(pattern)} on the terminal`, () => pattern.exec(plainText(output.slice(from))) ?? undefined, 20_000);
  const known = { address: '', token: '', pid: child.pid ?? 0 };
  if (options.fails !== true) {
    const gone = exit.then(({ code, signal }) => {
      throw new Error(`the loop ended early (${signal ?? code}):\n${output}`);
    });
    Object.assign(known, await Promise.race([gone, reachOf(as, { waitForRecord, waitForText })]));
    gone.catch(() => {});
    if (as === 'terminal') known.pid = processesStartedIn(folder).find(isLoop(child.pid)) ?? 0;
  }
  return {
    ...known,
    output: () => output,
    records,
    waitForRecord,
    waitForText,
    type: (text) => void child.stdin?.write(text),
    hangUp: () => void child.kill('SIGKILL'),
    signal: (name) => void process.kill(known.pid, name),
    exit,
  };
}

async function reachOf(
  as: DevLoopOptions['as'],
  { waitForRecord, waitForText }: Pick<RunningLoop, 'waitForRecord' | 'waitForText'>,
): Promise<Endpoint> {
  if (as === undefined) {
    const { address, token } = await waitForRecord(({ event }) => event === 'dev-ready');
    // One that was given is not told.
    return { address: String(address), token: typeof token === 'string' ? token : '' };
  }
  const [, address = ''] = await waitForText(/packgate dev on (\S+)/);
  const [, token = ''] = await waitForText(/PACKGATE_TOKEN=(\S+)/);
  return { address, token };
}

/** The one whose command line is ours, and not the terminal's program around it. */
function isLoop(terminal: number | undefined): (pid: number) => boolean {
  return (pid) => pid !== terminal && commandLineOf(pid)[1] === MAIN;
}
