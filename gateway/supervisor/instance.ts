import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { StderrLine } from '../../shared/process/records.ts';
import type { Clock } from '../clock.ts';
import { Target } from '../lane/target.ts';
import { ask } from './ask.ts';
import { INSTANCE_MOVES, next } from './lifecycle.ts';
import type { InstanceEvent, InstanceState } from './lifecycle.ts';
import { OutputBudget } from './outputBudget.ts';
import type { Exit, PackProcess } from './process.ts';
import { prove, waitUntilReady } from './proof.ts';
import type { Verdict } from './proof.ts';
import type { InstanceRecipe } from './recipe.ts';
import { StartFailure } from './startFailure.ts';
import type { StartStep } from './startFailure.ts';
import { StderrReader } from './stderr.ts';
import { StdoutReader } from './stdout.ts';

/** What one run of a pack service is made from. */
export interface InstancePlan extends InstanceRecipe {
  /** Names it in logs: `<deployment>#<number>`. */
  readonly name: string;
  readonly tenantId: string;
  readonly clock: Clock;
  /** A line that its process printed, its token masked; `cutBytes` of it are missing. */
  readonly onOutput: (line: StderrLine, cutBytes: number) => void;
  /** A step of the start begins. */
  readonly onStep: (step: StartStep) => void;
  /** So many lines were not shown, because there were too many. */
  readonly onDropped: (lines: number) => void;
}

/** A service that does not answer `/healthz` for this long is stuck. */
const HEALTH_MS = 2_000;

/** How long the news of a process's exit may take: some 13 ms have been seen between its last reset and its exit. */
const EXIT_NEWS_MS = 250;

/** An instance that never became ready has no calls that could need time to end. */
const FAILED_START_KILL_MS = 1_000;

/**
 * One run of one pack service process: starts once, ends once, is never used again.
 *
 * Safety: no more than one SIGTERM, to the leader, and the state is changed before it is sent; the group is killed when
 * its leader has gone or its time is up. Progress: after `stop` it is gone within `killAfterMs`.
 */
export class Instance {
  readonly name: string;
  readonly #plan: InstancePlan;
  readonly #token = randomBytes(24).toString('base64url');
  #state: InstanceState = 'starting';
  #step: StartStep = 'launch';
  #process: PackProcess | undefined;
  #target: Target | undefined;
  #verdict: Verdict | undefined;
  #readyAt: number | undefined;
  #memoryBytes: number | undefined;
  #fail: (failure: StartFailure) => void = () => undefined;

  constructor(plan: InstancePlan) {
    this.name = plan.name;
    this.#plan = plan;
  }

  get state(): InstanceState {
    return this.#state;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get build(): string {
    return this.#plan.build;
  }

  /** On the plan's clock; undefined before it was. */
  get readyAt(): number | undefined {
    return this.#readyAt;
  }

  /** From SIGTERM to SIGKILL, in milliseconds. */
  get killAfterMs(): number {
    return this.#plan.killAfterMs;
  }

  /** Proportional memory (PSS) of its processes when last measured, in bytes. */
  get memoryBytes(): number | undefined {
    return this.#memoryBytes;
  }

  noteMemory(bytes: number): void {
    this.#memoryBytes = bytes;
  }

  /** What the proof found; set once ready. */
  get verdict(): Verdict | undefined {
    return this.#verdict;
  }

  get target(): Target | undefined {
    return this.#target;
  }

  /** Settles at the process's exit; `start` must have been called. Never rejects. */
  get exited(): Promise<Exit> {
    if (this.#process === undefined) throw new Error(`${this.name} was not started`);
    return this.#process.exited;
  }

  /** Settles when its last output has been read, too. Never rejects. */
  get finished(): Promise<Exit> {
    if (this.#process === undefined) throw new Error(`${this.name} was not started`);
    return this.#process.finished;
  }

  /**
   * From launch to proof. When it fails, the instance ends by itself.
   * @throws {StartFailure}
   */
  async start(): Promise<Target> {
    const { clock, bootTimeoutMs } = this.#plan;
    const failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    const cancelTimer = clock.after(bootTimeoutMs, () => {
      this.#fail(new StartFailure(this.#step, 'timeout', `not ready after ${bootTimeoutMs} ms (step: ${this.#step})`));
    });
    this.#plan.onStep('launch');
    try {
      return await Promise.race([failed, this.#boot()]);
    } catch (cause) {
      this.#end(FAILED_START_KILL_MS);
      throw cause;
    } finally {
      cancelTimer();
    }
  }

  /** Whether it still answers `/healthz`. When it does not, its exit is given a moment to become known. */
  async isAlive(): Promise<boolean> {
    const origin = this.#target?.facts.origin;
    if (origin === undefined || this.#state !== 'ready') return false;
    const reply = await ask(origin, '/healthz', { timeoutMs: HEALTH_MS });
    // That we could not ask is no reason to think it dead.
    if (reply?.status === 200 || reply?.status === 0) return true;
    await Promise.race([this.exited, pause(EXIT_NEWS_MS)]);
    return false;
  }

  /** Ends it: SIGTERM now, SIGKILL when `killAfterMs` (the plan's for one that was ready) is over. Again: nothing. */
  stop(killAfterMs = this.#state === 'ready' ? this.#plan.killAfterMs : FAILED_START_KILL_MS): void {
    this.#end(killAfterMs);
    this.#fail(new StartFailure(this.#step, 'cancelled', 'ended while it was starting'));
  }

  /** Ends it and its group now. */
  kill(): void {
    this.stop();
    this.#process?.killGroup();
  }

  async #boot(): Promise<Target> {
    const port = await this.#listening();
    const origin = `http://127.0.0.1:${port}`;
    this.#enter('ready');
    await waitUntilReady(origin, () => this.#state !== 'starting');
    if (this.#state !== 'starting') throw new StartFailure('ready', 'cancelled', 'ended while it was starting');
    this.#enter('proof');
    const { tenantId, index, requiresPortProof, keepsConnections } = this.#plan;
    const pid = this.pid ?? 0;
    const verdict = await prove({ origin, port, pid, token: this.#token, tenantId, index, requiresPortProof });
    if (!this.#move('proven')) throw new StartFailure('proof', 'cancelled', 'ended while it was starting');
    this.#verdict = verdict;
    this.#target = new Target({
      instance: this.name,
      origin,
      token: this.#token,
      tenantId,
      artifactVersion: index.artifactVersion,
      checksContext: verdict.context === 'honoured',
      keepsConnections,
      concurrency: this.#plan.concurrency,
    });
    this.#readyAt = this.#plan.clock.now();
    return this.#target;
  }

  /** Launches the process and waits for the port of its first listening line. */
  #listening(): Promise<number> {
    return new Promise((resolve) => {
      const budget = new OutputBudget(this.#plan.clock);
      const tellDropped = (lines: number): void => {
        if (lines > 0) this.#plan.onDropped(lines);
      };
      const show = (line: StderrLine, cutBytes: number): void => {
        tellDropped(budget.takeDropped());
        this.#plan.onOutput(this.#masked(line), cutBytes);
      };
      const stderr = new StderrReader(() => resolve(stderr.said.port ?? 0), budget, show);
      const stdout = new StdoutReader(budget, show);
      const process = this.#plan.launch(this.#token, {
        onStdout: (chunk) => stdout.push(chunk),
        onStderr: (chunk) => stderr.push(chunk),
      });
      this.#process = process;
      this.#enter('listen');
      void process.exited.then(() => this.#move('exit'));
      void process.finished.then((exit) => {
        stdout.end();
        stderr.end();
        tellDropped(budget.takeLastDropped());
        this.#fail(this.#exitFailure(exit, stderr.said.problems, stderr.said.refusedConfig));
        void this.#target?.destroy();
      });
    });
  }

  #enter(step: StartStep): void {
    this.#step = step;
    this.#plan.onStep(step);
  }

  #end(killAfterMs: number): void {
    if (!this.#move('stop') || this.#process === undefined) return;
    const process = this.#process;
    process.signal('SIGTERM');
    const cancelKill = this.#plan.clock.after(killAfterMs, () => process.killGroup());
    void process.exited.then(cancelKill);
  }

  #exitFailure(exit: Exit, problems: readonly string[], refusedConfig: boolean): StartFailure {
    if (exit.kind === 'spawn-failed') return new StartFailure('launch', 'spawn-failed', exit.reason);
    const how = exit.kind === 'code' ? `exit code ${exit.code}` : `signal ${exit.signal}`;
    if (problems.length === 0) return new StartFailure(this.#step, 'exited', `ended with ${how} before it was ready`);
    const code = refusedConfig ? 'config-invalid' : 'boot-failed';
    const about = refusedConfig ? ` for tenant ${this.#plan.tenantId}` : '';
    return new StartFailure(this.#step, code, `the service refused to start${about}: ${problems.join('; ')}`, problems);
  }

  #move(event: InstanceEvent): boolean {
    const state = next(INSTANCE_MOVES, this.#state, event);
    if (state !== undefined) this.#state = state;
    return state !== undefined;
  }

  /** A pack can read its own environment and print it; its token stays out of the logs all the same. */
  #masked(line: StderrLine): StderrLine {
    const text = line.type === 'output' ? line.text : JSON.stringify(line.fields);
    return text.includes(this.#token) ? { type: 'output', text: text.replaceAll(this.#token, '[token]') } : line;
  }
}
