import type { StderrLine } from '../../shared/process/records.ts';
import type { Clock } from '../clock.ts';
import type { Target } from '../lane/target.ts';
import type { BootGate, Urgency } from './bootGate.ts';
import type { InstancePlan } from './instance.ts';
import type { Exit } from './process.ts';
import type { InstanceRecipe, Source } from './recipe.ts';
import { StartFailure } from './startFailure.ts';
import type { StartStep } from './startFailure.ts';
import type { InstanceState } from './lifecycle.ts';
import type { BootFailure, BootRecord, Done, StartCause } from './status.ts';
import type { Verdict } from './proof.ts';

/** How many of the last lines that a process printed are kept, and how much of each. */
const KEPT_LINES = 20;
const KEPT_CHARACTERS = 500;

/** One run of a pack service, as its deployment needs it; `Instance` is the real one. */
export interface Run {
  readonly name: string;
  readonly build: string;
  readonly state: InstanceState;
  readonly pid: number | undefined;
  readonly readyAt: number | undefined;
  readonly killAfterMs: number;
  readonly verdict: Verdict | undefined;
  readonly target: Target | undefined;
  /** Proportional memory (PSS) of its processes when last measured, in bytes. */
  readonly memoryBytes: number | undefined;
  noteMemory(bytes: number): void;
  /** At its process's exit; with the last output read. Only after `start`. Neither rejects. */
  readonly exited: Promise<Exit>;
  readonly finished: Promise<Exit>;
  /** @throws {StartFailure} */
  start(): Promise<Target>;
  isAlive(): Promise<boolean>;
  stop(killAfterMs?: number): void;
  kill(): void;
}

export type CreateRun = (plan: InstancePlan) => Run;

/** What one start is made from. */
export interface BootPlan {
  readonly name: string;
  readonly cause: StartCause;
  readonly tenantId: string;
  readonly urgency: Urgency;
  /** See `PrepareOrder`. */
  readonly isFresh: boolean;
  readonly source: Source;
  readonly gate: BootGate;
  /** Settles with whether there is memory for one more instance. */
  readonly makeRoom: () => Promise<boolean>;
  readonly clock: Clock;
  readonly create: CreateRun;
  /** Its process has been launched: from here on it must be ended and waited for. */
  readonly onLaunched: (run: Run) => void;
  readonly onOutput: (line: StderrLine, cutBytes: number, isProving: boolean) => void;
  readonly onDropped: (lines: number) => void;
}

/** What a start that succeeded leaves. */
export interface Started {
  readonly run: Run;
  readonly target: Target;
  readonly recipe: InstanceRecipe;
}

/**
 * One start on its way: a place among those that start, memory, the index, the process, the proof. Keeps what operators
 * ask for when it fails.
 *
 * Progress: `run` settles; after `cancel` it rejects as soon as no process of the indexer is left.
 */
export class Boot {
  readonly name: string;
  readonly cause: StartCause;
  readonly isFresh: boolean;
  /** How the order that led to it ended; settles once. */
  readonly concluded: Promise<Done>;
  readonly #plan: BootPlan;
  readonly #at = new Date().toISOString();
  readonly #abort = new AbortController();
  readonly #steps: { step: 'queue' | StartStep; from: number }[] = [];
  readonly #lines: string[] = [];
  #endedAt: number | undefined;
  #run: Run | undefined;
  #outcome: BootRecord['outcome'] = 'running';
  #failure: BootFailure | undefined;
  #exit: Exit | undefined;
  #verdict: Verdict | undefined;
  #conclude: (done: Done) => void = () => undefined;

  constructor(plan: BootPlan) {
    this.#plan = plan;
    this.name = plan.name;
    this.cause = plan.cause;
    this.isFresh = plan.isFresh;
    this.concluded = new Promise((resolve) => {
      this.#conclude = resolve;
    });
  }

  /** The instance, once its process has been launched. */
  get instance(): Run | undefined {
    return this.#run;
  }

  get isCancelled(): boolean {
    return this.#abort.signal.aborted;
  }

  get record(): BootRecord {
    const { cause, name } = this;
    const verdict = this.#run?.verdict ?? this.#verdict;
    const ends = [...this.#steps.slice(1).map(({ from }) => from), this.#endedAt ?? this.#plan.clock.now()];
    return {
      instance: name,
      cause,
      at: this.#at,
      outcome: this.#outcome,
      steps: this.#steps.map(({ step, from }, at) => ({ step, ms: Math.round((ends[at] ?? from) - from) })),
      ...(this.#failure !== undefined && { failure: this.#failure }),
      ...(this.#exit !== undefined && { exit: this.#exit }),
      ...(verdict !== undefined && { verdict }),
      lastOutput: [...this.#lines],
    };
  }

  /** @throws {StartFailure} */
  async run(): Promise<Started> {
    try {
      const started = await this.#start();
      this.#outcome = 'ready';
      return started;
    } catch (cause) {
      const failure = asFailure(cause);
      const { step, code, message, problems } = failure;
      this.#outcome = code === 'cancelled' ? 'cancelled' : 'failed';
      this.#failure = { step, code, message, problems };
      throw failure;
    } finally {
      this.#endedAt = this.#plan.clock.now();
    }
  }

  /** Gives it up, wherever it is. */
  cancel(): void {
    this.#abort.abort(new StartFailure('launch', 'cancelled', 'ended before it was started'));
    this.#run?.stop();
  }

  /** A call waits for it now. */
  hurry(): void {
    this.#plan.gate.hurry(this.#id);
  }

  conclude(done: Done): void {
    this.#conclude(done);
  }

  get #id(): string {
    return `${this.#plan.tenantId}\0${this.name}`;
  }

  async #start(): Promise<Started> {
    const { gate, tenantId, urgency, source, isFresh, makeRoom, create, onLaunched } = this.#plan;
    const { signal } = this.#abort;
    this.#enter('queue');
    const leave = await gate.enter({ id: this.#id, tenantId, urgency, signal });
    try {
      if (!(await makeRoom())) {
        throw new StartFailure('launch', 'no-memory', 'the memory budget is used up, and no instance is idle');
      }
      this.#enter('index');
      const recipe = await source.prepare({ isFresh, signal });
      signal.throwIfAborted();
      const run = create(this.#instancePlan(recipe));
      this.#run = run;
      const starting = run.start();
      onLaunched(run);
      void run.finished.then((exit) => {
        this.#exit = exit;
        // A start is remembered for long; what it started, with its connections, is not.
        this.#verdict = run.verdict;
        this.#run = undefined;
      });
      return { run, target: await starting, recipe };
    } finally {
      leave();
    }
  }

  #instancePlan(recipe: InstanceRecipe): InstancePlan {
    const { name, tenantId, clock, onOutput, onDropped } = this.#plan;
    return {
      ...recipe,
      name,
      tenantId,
      clock,
      onStep: (step) => this.#enter(step),
      onOutput: (line, cutBytes) => {
        const isProving = this.#outcome === 'running';
        // The proof asks as another tenant, and the service says so.
        if (!(isProving && line.type === 'event' && line.event === 'tenant-mismatch')) this.#keep(line);
        onOutput(line, cutBytes, isProving);
      },
      onDropped,
    };
  }

  #enter(step: 'queue' | StartStep): void {
    this.#steps.push({ step, from: this.#plan.clock.now() });
  }

  #keep(line: StderrLine): void {
    const text = textOf(line);
    this.#lines.push(text.length > KEPT_CHARACTERS ? `${text.slice(0, KEPT_CHARACTERS)}…` : text);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
  }
}

/** Of a record what it says; of anything else all of it. */
function textOf(line: StderrLine): string {
  if (line.type === 'output') return line.text;
  const { level, message } = line.fields;
  return typeof message === 'string' ? `${String(level)}: ${message}` : JSON.stringify(line.fields);
}

function asFailure(cause: unknown): StartFailure {
  return cause instanceof StartFailure ? cause : new StartFailure('launch', 'spawn-failed', String(cause));
}
