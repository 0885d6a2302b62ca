import { AssertionError } from 'node:assert/strict';
import { classifyLine } from '../../../shared/process/records.ts';
import type { StderrLine } from '../../../shared/process/records.ts';
import type { ProcessExit, ServiceProcess } from '../../../shared/conform/service.ts';
import type { LaunchSpec } from '../../runtimes/launchSpec.ts';
import { LineSplitter } from '../../supervisor/lines.ts';
import type { Exit, Launch, PackProcess } from '../../supervisor/process.ts';

/** Longest wait for a line, in milliseconds, where a clause names no other. */
const PATIENCE_MS = 15_000;

/** From a gentle end to a hard one: more than the longest drain of a released service (C32). */
const KILL_AFTER_MS = 13_000;

/** Most that is kept of what one process prints; what comes after is read and forgotten. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

const LAST_LINES = 5;

/** One process of the service that is looked at, with its lines. */
export class LaunchedProcess implements ServiceProcess {
  readonly exit: Promise<ProcessExit>;
  readonly #process: PackProcess;
  readonly #lines = { stdout: [] as string[], stderr: [] as string[] };
  readonly #waiters = new Set<() => void>();
  #keptBytes = 0;
  #ended: Exit | undefined;

  constructor(launch: Launch, spec: LaunchSpec) {
    const stdout = this.#splitter('stdout');
    const stderr = this.#splitter('stderr');
    this.#process = launch(spec, {
      onStdout: (chunk) => this.#read(stdout, chunk),
      onStderr: (chunk) => this.#read(stderr, chunk),
    });
    this.exit = this.#process.finished.then((exit) => {
      stdout.end();
      stderr.end();
      this.#ended = exit;
      this.#wake();
      if (exit.kind === 'spawn-failed') throw new AssertionError({ message: exit.reason });
      return exit.kind === 'signal' ? { code: null, signal: exit.signal } : { code: exit.code, signal: null };
    });
    // Whoever waits for the exit gets the error; of a start that nobody waits for nobody has to know.
    this.exit.catch(() => undefined);
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
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
    this.#process.signal(name);
  }

  async stop(): Promise<void> {
    const timer = setTimeout(() => this.kill(), KILL_AFTER_MS);
    this.#process.signal('SIGTERM');
    await this.#process.finished;
    clearTimeout(timer);
  }

  /** Ends it and everything it started at once. */
  kill(): void {
    this.#process.killGroup();
  }

  // Private

  #splitter(name: 'stdout' | 'stderr'): LineSplitter {
    return new LineSplitter((line) => {
      if (this.#keptBytes > MAX_KEPT_BYTES) return;
      this.#keptBytes += line.length + 1;
      this.#lines[name].push(line.toString('utf8'));
    });
  }

  #read(splitter: LineSplitter, chunk: Buffer): void {
    splitter.push(chunk);
    this.#wake();
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
          const last = this.#lines.stderr.slice(-LAST_LINES).join('\n');
          const said = last === '' ? 'it printed nothing on stderr' : `last lines on stderr:\n${last}`;
          reject(new AssertionError({ message: `${what} did not come ${why}; ${said}` }));
        });
      const look = (): void => {
        const found = probe();
        if (found !== undefined) settle(() => resolve(found));
        else if (this.#ended !== undefined) fail(`before the end (${exitText(this.#ended)})`);
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

function exitText(exit: Exit): string {
  switch (exit.kind) {
    case 'code':
      return `exit code ${exit.code}`;
    case 'signal':
      return exit.signal;
    case 'spawn-failed':
      return exit.reason;
  }
}
