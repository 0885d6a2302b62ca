import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Endpoint } from './calls.ts';
import { until } from './files.ts';
import type { AtEnd } from './atEnd.ts';
import { killProcess, processesMentioning } from './processes.ts';

const DIST = process.env.PACKGATE_TEST_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));
const MAIN = join(DIST, 'gateway', 'main.js');

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
  readonly exit: Promise<ProcessExit>;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** SIGTERM, then the exit. */
  readonly stop: () => Promise<ProcessExit>;
}

export async function startGateway(options: GatewayOptions, atEnd: AtEnd = onTestFinished): Promise<Gateway> {
  if (!existsSync(MAIN)) throw new Error('dist is missing: run `npm run build` first');
  const token = randomBytes(24).toString('base64url');
  const file = writeConfiguration(options);
  const argv = [process.execPath, MAIN, 'serve', '-c', file];
  const limit = String(options.descriptorLimit ?? 'unlimited');
  const [program = '', ...args] =
    options.descriptorLimit === undefined ? argv : ['sh', '-c', 'ulimit -n "$0" && exec "$@"', limit, ...argv];
  const child = spawn(program, args, {
    cwd: options.folder,
    env: { PATH: process.env.PATH, [TOKEN_NAME]: token, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atEnd(() => endEverything(child, options.folder));
  const log = collectLog(child);
  const exit = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const waitForRecord: Gateway['waitForRecord'] = (fits, withinMs = 10_000) =>
    until('a log record that fits', () => log.records().find(fits), withinMs);

  const gone = exit.then(({ code, signal }) => {
    throw new Error(`the gateway ended early (${signal ?? code}):\n${log.output()}`);
  });
  const listening = await Promise.race([waitForRecord((record) => record.event === 'listening'), gone]);
  gone.catch(() => {});
  const address = String(listening.address);
  return {
    address,
    token,
    port: Number(new URL(address).port),
    pid: child.pid ?? 0,
    get records() {
      return log.records();
    },
    output: log.output,
    waitForRecord,
    exit,
    signal: (signal) => void child.kill(signal),
    stop: () => {
      child.kill('SIGTERM');
      return exit;
    },
  };
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
function collectLog(child: ChildProcess): Pick<Gateway, 'output'> & { records: () => LogRecord[] } {
  const pieces: { isLog: boolean; text: string }[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => pieces.push({ isLog: stream === child.stderr, text }));
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

/** What the gateway started has the test's folder in its command line: that is how it is found and ended. */
async function endEverything(gateway: ChildProcess, folder: string): Promise<void> {
  gateway.kill('SIGKILL');
  await until('no process of the test is left', () => {
    const left = processesMentioning(folder);
    left.forEach(killProcess);
    return left.length === 0;
  });
}
