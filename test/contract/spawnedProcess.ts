import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { ProcessExit, ServiceProcess } from '../../shared/conform/service.ts';
import { classifyLine } from '../../shared/process/records.ts';
import type { StderrLine } from '../../shared/process/records.ts';

const PATIENCE_MS = 15_000;
/** From a gentle end to a hard one: more than the longest drain of a real service. */
const KILL_AFTER_MS = 13_000;

/** What runs now; a test run that is cut short leaves none of it behind. */
const running = new Set<ChildProcessByStdio<null, Readable, Readable>>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** A process with its lines. */
export class SpawnedProcess implements ServiceProcess {
  readonly exit: Promise<ProcessExit>;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #lines = { stdout: [] as string[], stderr: [] as string[] };
  readonly #waiters = new Set<() => void>();
  #ended: ProcessExit | undefined;

  constructor({ command, args, env, cwd }: Command) {
    this.#child = spawn(command, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(this.#child);
    for (const name of ['stdout', 'stderr'] as const) this.#read(name);
    this.exit = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', (code, signal) => {
        running.delete(this.#child);
        this.#ended = { code, signal };
        this.#wake();
        resolve(this.#ended);
      });
    });
    // Whoever waits for the exit gets the error; a start that nobody waits for must not end the run.
    this.exit.catch(() => {});
  }

  lines(): readonly string[] {
    return this.#lines.stderr;
  }

  line(isIt: (line: StderrLine) => boolean, withinMs = PATIENCE_MS): Promise<StderrLine> {
    let next = 0;
    return this.#until(withinMs, 'the line', () => {
      for (; next < this.#lines.stderr.length; next += 1) {
        const line = classifyLine(this.#lines.stderr[next] ?? '');
        if (isIt(line)) return line;
      }
      return undefined;
    });
  }

  async printed(text: string, withinMs = PATIENCE_MS): Promise<void> {
    const { stdout, stderr } = this.#lines;
    await this.#until(withinMs, `"${text}"`, () => stdout.includes(text) || stderr.includes(text) || undefined);
  }

  signal(name: 'SIGTERM' | 'SIGINT'): void {
    this.#child.kill(name);
  }

  async stop(): Promise<void> {
    if (this.#ended !== undefined) return;
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), KILL_AFTER_MS);
    this.#child.kill('SIGTERM');
    try {
      await this.exit;
    } finally {
      clearTimeout(timer);
    }
  }

  // Private

  #read(name: 'stdout' | 'stderr'): void {
    const decoder = new StringDecoder('utf8');
    let rest = '';
    this.#child[name].on('data', (chunk: Buffer) => {
      const parts = (rest + decoder.write(chunk)).split('\n');
      rest = parts.pop() ?? '';
      this.#lines[name].push(...parts);
      this.#wake();
    });
  }

  #until<T>(withinMs: number, what: string, probe: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (action: () => void): void => {
        clearTimeout(timer);
        this.#waiters.delete(look);
        action();
      };
      const fail = (why: string): void =>
        settle(() => {
          const last = this.#lines.stderr.slice(-5).join('\n');
          reject(new assert.AssertionError({ message: `${what} did not come ${why}; last lines:\n${last}` }));
        });
      const look = (): void => {
        const found = probe();
        if (found !== undefined) settle(() => resolve(found));
        else if (this.#ended !== undefined) fail(`before the exit ${JSON.stringify(this.#ended)}`);
      };
      const timer = setTimeout(() => fail(`within ${withinMs} ms`), withinMs);
      this.#waiters.add(look);
      look();
    });
  }

  #wake(): void {
    for (const look of this.#waiters) look();
  }
}
