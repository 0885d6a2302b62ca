import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Endpoint } from './calls.ts';
import { until } from './files.ts';
import type { AtEnd } from './atEnd.ts';
import { killProcess, processesMentioning } from './processes.ts';

const DIST = process.env.PACKGATE_TEST_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));
const MAIN = join(DIST, 'gateway', 'main.js');

/** From its launch to its listener, on a machine that is busy with something else. */
const START_MS = 30_000;

/** Name of the environment variable that holds the token opening every tenant. */
const TOKEN_NAME = 'PACKGATE_TEST_TOKEN';

export interface GatewayOptions {
  /** The test's folder: configuration, state and packs live in it, and its processes are known by it. */
  readonly folder: string;
  /** `tenants` of the configuration. */
  readonly tenants: Readonly<Record<string, unknown>>;
  /** More `tokens` than the one that opens everything. */
  readonly tokens?: readonly unknown[];
  /** Any other keys of the configuration. */
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** How many descriptors it may have open; a shell's `ulimit -n`. */
  readonly descriptorLimit?: number;
  /** Stands before its command line, and replaces itself by it: another user, for example. */
  readonly prefix?: readonly string[];
  /**
   * How it is started: `group`: as the leader of a process group; `terminal`: as the leader of a pseudo-terminal's
   * foreground group, with standard input, output and error on it. Otherwise as a child of the test, without input.
   */
  readonly as?: 'group' | 'terminal';
  /** More arguments of `serve`. */
  readonly args?: readonly string[];
  /** More environment variables of the gateway. */
  readonly env?: Readonly<Record<string, string>>;
}

export type LogRecord = Readonly<Record<string, unknown>>;

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A gateway as a real process. It and everything it started is ended, by pid, when the test ends. */
export interface Gateway extends Endpoint {
  readonly port: number;
  readonly pid: number;
  /** Everything logged so far. */
  readonly records: readonly LogRecord[];
  /** Everything written so far on both outputs, as it came. */
  readonly output: () => string;
  /** The first record that fits, awaited when it is not there yet. */
  readonly waitForRecord: (fits: (record: LogRecord) => boolean, withinMs?: number) => Promise<LogRecord>;
  /**
   * From now on its outputs are read at this rate each, beyond what the pipes take; the returned function reads on at
   * full speed.
   */
  readonly readSlowly: (bytesPerSecond: number) => () => void;
  /** Types into its terminal. */
  readonly type: (text: string) => void;
  /** Closes its terminal as a broken connection does: the other end is gone at once. */
  readonly hangUp: () => void;
  /** Of the process; of the terminal's program where it runs on one, which ends with the gateway's exit code. */
  readonly exit: Promise<ProcessExit>;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** SIGTERM, then the exit. */
  readonly stop: () => Promise<ProcessExit>;
}

export async function startGateway(options: GatewayOptions, atEnd: AtEnd = onTestFinished): Promise<Gateway> {
  if (!existsSync(MAIN)) throw new Error('dist is missing: run `npm run build` first');
  const token = randomBytes(24).toString('base64url');
  const file = writeConfiguration(options);
  const argv = [...(options.prefix ?? []), process.execPath, MAIN, 'serve', '-c', file, ...(options.args ?? [])];
  const [program = '', ...args] = commandLine(argv, options);
  const child = spawn(program, args, {
    cwd: options.folder,
    env: { PATH: process.env.PATH, [TOKEN_NAME]: token, ...options.env },
    detached: options.as === 'group',
    stdio: [options.as === 'terminal' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  atEnd(() => endEverything(child, options.folder));
  const log = collectLog(child, options.as === 'terminal' ? child.stdout : child.stderr);
  const exit = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const waitForRecord: Gateway['waitForRecord'] = (fits, withinMs = 10_000) =>
    until('a log record that fits', () => log.records().find(fits), withinMs);

  const gone = exit.then(({ code, signal }) => {
    throw new Error(`the gateway ended early (${signal ?? code}):\n${log.output()}`);
  });
  const listening = await Promise.race([waitForRecord((record) => record.event === 'listening', START_MS), gone]);
  gone.catch(() => {});
  const address = String(listening.address);
  const pid = Number(listening.pid);
  const signal = (name: NodeJS.Signals): void => {
    if (options.as === 'terminal') process.kill(pid, name);
    else child.kill(name);
  };
  return {
    address,
    token,
    port: Number(new URL(address).port),
    pid,
    get records() {
      return log.records();
    },
    output: log.output,
    waitForRecord,
    readSlowly: (bytesPerSecond) => readSlowly(child, bytesPerSecond),
    exit,
    type: (text) => void child.stdin?.write(text),
    hangUp: () => void child.kill('SIGKILL'),
    signal,
    stop: () => {
      signal('SIGTERM');
      return exit;
    },
  };
}

/** What is to be run, so that it is started as asked for. */
function commandLine(argv: readonly string[], { descriptorLimit, as }: GatewayOptions): readonly string[] {
  if (descriptorLimit !== undefined) {
    return ['sh', '-c', 'ulimit -n "$0" && exec "$@"', String(descriptorLimit), ...argv];
  }
  if (as !== 'terminal') return argv;
  // A pseudo-terminal of its own, whose foreground group the command leads.
  return ['script', '-qefc', `exec ${argv.map((word) => `'${word}'`).join(' ')}`, '/dev/null'];
}

/** Returns the path of the configuration. */
function writeConfiguration({ folder, tenants, tokens = [], configuration = {} }: GatewayOptions): string {
  const file = join(folder, 'packgate.yaml');
  const whole = {
    listen: '127.0.0.1:0',
    stateDir: join(folder, 'state'),
    tokens: [{ env: TOKEN_NAME }, ...tokens],
    tenants,
    ...configuration,
  };
  writeFileSync(file, JSON.stringify(whole, undefined, 2));
  return file;
}

/** Reads as fast as it can and parses only what is asked for: a slow reader would cost the gateway log lines. */
function collectLog(
  child: ChildProcess,
  logStream: Readable | null,
): Pick<Gateway, 'output'> & { records: () => LogRecord[] } {
  const pieces: { isLog: boolean; text: string }[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => pieces.push({ isLog: stream === logStream, text }));
  }
  const records: LogRecord[] = [];
  let parsedPieces = 0;
  let rest = '';
  return {
    output: () => pieces.map(({ text }) => text).join(''),
    records: () => {
      const fresh = pieces.slice(parsedPieces).filter(({ isLog }) => isLog);
      parsedPieces = pieces.length;
      const lines = [rest, ...fresh.map(({ text }) => text)].join('').split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('{')) records.push(JSON.parse(line) as LogRecord);
      return records;
    },
  };
}

function readSlowly(child: ChildProcess, bytesPerSecond: number): () => void {
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  streams.forEach((stream) => stream.pause());
  // In a paused stream a read is what the listeners get.
  const reading = setInterval(() => streams.forEach((stream) => void stream.read(bytesPerSecond)), 1_000);
  return () => {
    clearInterval(reading);
    streams.forEach((stream) => stream.resume());
  };
}

/** What the gateway started has the test's folder in its command line: that is how it is found and ended. */
async function endEverything(gateway: ChildProcess, folder: string): Promise<void> {
  gateway.kill('SIGKILL');
  await until('no process of the test is left', () => {
    const left = processesMentioning(folder);
    left.forEach(killProcess);
    return left.length === 0;
  });
}
