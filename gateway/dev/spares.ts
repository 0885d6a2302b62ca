import { ENV } from '../../shared/process/contract.ts';
import type { LaunchSpec } from '../runtimes/launchSpec.ts';
import type { Launch, OutputSinks, PackProcess } from '../supervisor/process.ts';

/** Each holds some 60 MB: those of two packs, so that going to and fro between them is quick. */
const MAX_SPARES = 4;

/** A process that waits for its orders. */
interface Spare {
  readonly key: string;
  readonly process: PackProcess;
  readonly sinks: LateSinks;
}

/** What a launch spec of our Node programs says, in parts. */
interface Parts {
  readonly before: readonly string[];
  readonly command: string;
  readonly args: readonly string[];
  /** What is not known ahead of time. */
  readonly lateEnv: Readonly<Record<string, string>>;
  readonly earlyEnv: Readonly<Record<string, string>>;
}

/**
 * Processes of our own Node service and indexer that are started ahead of time: more than half of a swap would go by
 * until they have loaded what they need for any pack. No code of a pack runs in one before it has its orders.
 *
 * Safety: one is used once, and only for what it would have been started with. After `close` none is left.
 */
export class Spares {
  readonly #launch: Launch;
  readonly #childProgram: string;
  /** Oldest first. */
  readonly #waiting: Spare[] = [];
  #isClosed = false;

  constructor(options: { readonly launch: Launch; readonly childProgram: string }) {
    this.#launch = options.launch;
    this.#childProgram = options.childProgram;
  }

  /** As any launch; by a process that waits for just this, where there is one. */
  readonly launch: Launch = (spec, sinks) => {
    const parts = this.#partsOf(spec);
    const at = parts === undefined ? -1 : this.#waiting.findIndex(({ key }) => key === keyOf(spec, parts));
    const [spare] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (spare === undefined || parts === undefined) return this.#launch(spec, sinks);
    spare.sinks.bind(sinks);
    // By its standard input: they hold a token, which is to be in no file.
    spare.process.input?.end(JSON.stringify({ args: parts.args, env: parts.lateEnv }));
    return spare.process;
  };

  /** Sees to it that a process waits for what `spec` describes, but for its last arguments. Others: nothing. */
  prepare(spec: LaunchSpec): void {
    const parts = this.#partsOf(spec);
    if (parts === undefined || this.#isClosed) return;
    const key = keyOf(spec, parts);
    if (this.#waiting.some((spare) => spare.key === key)) return;
    const sinks = new LateSinks();
    const args = [...parts.before, this.#childProgram, 'later', parts.command];
    const process = this.#launch({ ...spec, args, env: parts.earlyEnv, hasInput: true }, sinks);
    const spare = { key, process, sinks };
    this.#waiting.push(spare);
    void process.exited.then(() => this.#forget(spare));
    if (this.#waiting.length > MAX_SPARES) this.#waiting.shift()?.process.killGroup();
  }

  /** Settles when no process waits any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const processes = this.#waiting.splice(0).map(({ process }) => process);
    for (const process of processes) process.killGroup();
    await Promise.all(processes.map(({ finished }) => finished));
  }

  #forget(spare: Spare): void {
    const at = this.#waiting.indexOf(spare);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  #partsOf({ args, env }: LaunchSpec): Parts | undefined {
    const at = args.indexOf(this.#childProgram);
    const command = args[at + 1];
    if (at < 0 || command === undefined) return undefined;
    const { [ENV.token]: token, ...earlyEnv } = env;
    const lateEnv = token === undefined ? {} : { [ENV.token]: token };
    return { before: args.slice(0, at), command, args: args.slice(at + 2), lateEnv, earlyEnv };
  }
}

function keyOf({ command: program, cwd }: LaunchSpec, { before, command, earlyEnv }: Parts): string {
  return JSON.stringify([program, before, command, cwd, Object.entries(earlyEnv)]);
}

/** Keeps what is printed before it is known for whom; a program that waits prints little. */
class LateSinks implements OutputSinks {
  #bound: OutputSinks | undefined;
  #early: { readonly stream: keyof OutputSinks; readonly chunk: Buffer }[] = [];

  readonly onStdout = (chunk: Buffer): void => this.#take('onStdout', chunk);
  readonly onStderr = (chunk: Buffer): void => this.#take('onStderr', chunk);

  bind(sinks: OutputSinks): void {
    this.#bound = sinks;
    for (const { stream, chunk } of this.#early) sinks[stream](chunk);
    this.#early = [];
  }

  #take(stream: keyof OutputSinks, chunk: Buffer): void {
    if (this.#bound === undefined) this.#early.push({ stream, chunk });
    else this.#bound[stream](chunk);
  }
}
