import { pino } from 'pino';
import type { Clock } from '../../../gateway/clock.ts';
import type { DeploymentSettings } from '../../../gateway/config/configuration.ts';
import type { Outcome, Waiter } from '../../../gateway/lane/lane.ts';
import { Target } from '../../../gateway/lane/target.ts';
import type { Run } from '../../../gateway/supervisor/boot.ts';
import { BootGate } from '../../../gateway/supervisor/bootGate.ts';
import { Deployment } from '../../../gateway/supervisor/deployment.ts';
import type { InstancePlan } from '../../../gateway/supervisor/instance.ts';
import type { InstanceState } from '../../../gateway/supervisor/lifecycle.ts';
import type { Exit } from '../../../gateway/supervisor/process.ts';
import type { InstanceRecipe, Source } from '../../../gateway/supervisor/recipe.ts';
import { StartFailure } from '../../../gateway/supervisor/startFailure.ts';
import type { Refusal } from '../../../shared/http/refusal.ts';

/** Time that passes when it is told to. */
export class FakeClock implements Clock {
  #now = 0;
  #timers: { at: number; action: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(delayMs: number, action: () => void): () => void {
    const timer = { at: this.#now + delayMs, action };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Timers that have not fired. */
  get pending(): number {
    return this.#timers.length;
  }

  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settle();
      const due = this.#timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#now = Math.max(this.#now, due.at);
      due.action();
    }
    this.#now = end;
    await settle();
  }
}

/** Lets everything that has been promised happen. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 8; round += 1) await moment();
}

function moment(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A process that does what it is told, and counts what is done to it. */
export class FakeRun implements Run {
  readonly name: string;
  readonly build: string;
  readonly pid = 1;
  readonly killAfterMs = 9_000;
  readonly verdict = undefined;
  readonly exited: Promise<Exit>;
  memoryBytes: number | undefined;
  state: InstanceState = 'starting';
  readyAt: number | undefined;
  target: Target | undefined;
  signals = 0;
  /** Calls it had when it was told to end. */
  inFlightAtStop = 0;
  /** What `isAlive` answers while it runs. */
  isHealthy = true;
  readonly #plan: InstancePlan;
  readonly #ignoresSignals: boolean;
  #resolveStart: (target: Target) => void = () => undefined;
  #rejectStart: (failure: StartFailure) => void = () => undefined;
  #resolveExit: (exit: Exit) => void = () => undefined;

  constructor(plan: InstancePlan, ignoresSignals = false) {
    this.#plan = plan;
    this.#ignoresSignals = ignoresSignals;
    this.name = plan.name;
    this.build = plan.build;
    this.exited = new Promise((resolve) => {
      this.#resolveExit = resolve;
    });
  }

  get finished(): Promise<Exit> {
    return this.exited;
  }

  start(): Promise<Target> {
    return new Promise((resolve, reject) => {
      this.#resolveStart = resolve;
      this.#rejectStart = reject;
    });
  }

  becomeReady(): void {
    if (this.state !== 'starting') return;
    this.state = 'ready';
    this.readyAt = this.#plan.clock.now();
    this.target = new Target({
      instance: this.name,
      origin: 'http://127.0.0.1:1',
      token: 'token',
      tenantId: this.#plan.tenantId,
      artifactVersion: '1',
      checksContext: true,
      keepsConnections: true,
      concurrency: this.#plan.concurrency,
    });
    this.#resolveStart(this.target);
  }

  failToStart(code: 'boot-failed' | 'missing-env'): void {
    if (this.state !== 'starting') return;
    this.#rejectStart(new StartFailure('ready', code, code));
    this.exit();
  }

  exit(): void {
    if (this.state === 'gone') return;
    const wasStarting = this.state === 'starting' || this.readyAt === undefined;
    this.state = 'gone';
    if (wasStarting) this.#rejectStart(new StartFailure('listen', 'exited', 'gone'));
    this.#resolveExit({ kind: 'code', code: 1 });
  }

  async isAlive(): Promise<boolean> {
    await moment();
    return this.state === 'ready' && this.isHealthy;
  }

  noteMemory(bytes: number): void {
    this.memoryBytes = bytes;
  }

  stop(killAfterMs = this.killAfterMs): void {
    if (this.state === 'draining' || this.state === 'gone') return;
    const wasStarting = this.state === 'starting';
    this.state = 'draining';
    this.signals += 1;
    this.inFlightAtStop = this.target?.inFlight ?? 0;
    if (wasStarting) this.#rejectStart(new StartFailure('listen', 'cancelled', 'stopped'));
    this.#plan.clock.after(this.#ignoresSignals ? killAfterMs : 50, () => this.exit());
  }

  kill(): void {
    this.stop();
    this.exit();
  }
}

/** Builds that are numbered: a fresh one is a new one. */
export class FakeSource implements Source {
  previousBuild: string | undefined;
  isRolledBack = false;
  kept: string | undefined;
  fails = false;
  #made = 0;
  #goesBack = false;

  async prepare({ isFresh, signal }: { isFresh: boolean; signal: AbortSignal }): Promise<InstanceRecipe> {
    await moment();
    signal.throwIfAborted();
    if (this.fails) throw new StartFailure('index', 'index-failed', 'no index');
    const goesBack = this.#goesBack && !isFresh;
    this.#goesBack = false;
    if (isFresh || this.kept === undefined) this.#made += 1;
    const fresh = `build-${this.#made}`;
    return {
      build: goesBack ? (this.previousBuild ?? fresh) : isFresh ? fresh : (this.kept ?? fresh),
      index: { path: '', packId: '', packVersion: '', artifactVersion: '', hash: '' },
      launch: () => {
        throw new Error('not used');
      },
      requiresPortProof: false,
      keepsConnections: true,
      bootTimeoutMs: 60_000,
      killAfterMs: 9_000,
      concurrency: 2,
    };
  }

  keep({ build }: InstanceRecipe): void {
    if (build !== this.kept) this.previousBuild = this.kept;
    this.isRolledBack = false;
    this.kept = build;
  }

  rollBack(): string | undefined {
    if (this.previousBuild === undefined) return 'there is none';
    this.#goesBack = true;
    return undefined;
  }

  update(): void {
    // Its builds do not depend on settings.
  }

  async close(): Promise<void> {
    // It writes nothing.
  }
}

/** A call that is in line, in flight, or over. */
export class FakeCall implements Waiter {
  target: Target | undefined;
  refusal: Refusal | undefined;
  answers = 0;
  isBack = false;

  admit(target: Target): void {
    this.target = target;
    this.answers += 1;
  }

  refuse(refusal: Refusal): void {
    this.refusal = refusal;
    this.answers += 1;
  }
}

export const SETTINGS: DeploymentSettings = {
  tenantId: 'a',
  name: 'default',
  isDefault: true,
  hosts: [],
  path: '/nowhere',
  runtime: { kind: 'node', node: 'node' },
  env: {},
  envCheck: 'strict',
  bootTimeoutMs: 60_000,
  drainMs: 8_000,
  concurrency: 2,
  queue: { size: 5, waitMs: 30_000 },
  restart: { minMs: 250, maxMs: 60_000, healthyMs: 60_000 },
  idleMs: 10_000,
  start: 'lazy',
  recycle: { ageMs: Number.POSITIVE_INFINITY, calls: Number.POSITIVE_INFINITY, memoryBytes: Number.POSITIVE_INFINITY },
};

/** A deployment whose processes, builds and clock are the test's. */
export class World {
  readonly clock = new FakeClock();
  readonly source = new FakeSource();
  readonly runs: FakeRun[] = [];
  readonly calls: FakeCall[] = [];
  readonly deployment: Deployment;
  hasRoom = true;

  constructor(settings: Partial<DeploymentSettings> = {}) {
    const log = pino({ enabled: false });
    this.deployment = new Deployment(
      { ...SETTINGS, ...settings },
      {
        source: this.source,
        gate: new BootGate(2, this.clock),
        makeRoom: () => Promise.resolve(this.hasRoom),
        create: (plan) => {
          const run = new FakeRun(plan, this.runs.length % 3 === 2);
          this.runs.push(run);
          return run;
        },
        clock: this.clock,
        log,
        packLog: log,
      },
    );
  }

  get lastRun(): FakeRun {
    const run = this.runs.at(-1);
    if (run === undefined) throw new Error('nothing was started');
    return run;
  }

  /** A call comes: it is with a target, in line, or refused. */
  call(): FakeCall {
    const call = new FakeCall();
    this.calls.push(call);
    try {
      this.deployment.lane.wake();
      const target = this.deployment.lane.enter(call);
      if (target !== undefined) call.admit(target);
    } catch (refusal) {
      call.refuse(refusal as Refusal);
    }
    return call;
  }

  /** The oldest call in flight comes back. */
  back(outcome: Outcome): void {
    const call = this.calls.find(({ target, isBack }) => target !== undefined && !isBack);
    if (call?.target === undefined) return;
    call.isBack = true;
    this.deployment.lane.leave(call.target, outcome);
  }

  /** Brings it to `ready` with a first call. */
  async becomeReady(): Promise<FakeRun> {
    this.call();
    await settle();
    this.lastRun.becomeReady();
    await settle();
    this.back('answered');
    await settle();
    return this.lastRun;
  }
}
