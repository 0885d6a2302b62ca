import type { Logger } from 'pino';
import { Refusal } from '../../shared/http/refusal.ts';
import type { Clock } from '../clock.ts';
import type { DeploymentSettings } from '../config/configuration.ts';
import { Lane } from '../lane/lane.ts';
import type { LaneEvents, LaneSettings, Outcome } from '../lane/lane.ts';
import type { Target } from '../lane/target.ts';
import { Backoff } from './backoff.ts';
import type { Boot, Run, Started } from './boot.ts';
import type { Urgency } from './bootGate.ts';
import { Leaving } from './leaving.ts';
import { Doubt } from './doubt.ts';
import { DEPLOYMENT_MOVES, next } from './lifecycle.ts';
import type { DeploymentEvent, DeploymentState } from './lifecycle.ts';
import type { Exit } from './process.ts';
import { recycleReason } from './recycle.ts';
import type { Past } from './past.ts';
import type { Source } from './recipe.ts';
import { StartFailure } from './startFailure.ts';
import { Starts } from './starts.ts';
import type { StartEvents, StartsDeps } from './starts.ts';
import type { StartCause } from './status.ts';

export interface DeploymentDeps extends Omit<StartsDeps, 'makeRoom'> {
  /** Settles with whether there is memory for one more instance of this deployment. */
  readonly makeRoom: (deployment: Deployment) => Promise<boolean>;
}

/** An instance that is replaced because it is sick gets this long for the calls that it may still be working on. */
const SICK_GRACE_MS = 5_000;

/** One that answers nobody will not answer SIGTERM either: it is given this long. */
const STUCK_KILL_MS = 1_000;

/** A service that is only late goes on getting calls if it answers for its health within this time: it may be busy. */
const BUSY_MS = 100;

/** Until a start is tried again for which there was no memory. */
const NO_MEMORY_MS = 1_000;

/** What had to be replaced although it serves is tried again after this long at the latest. */
const RECYCLE_AGAIN_MS = 60_000;

/** How an instance turned out not to serve as it should. */
type Illness = 'stuck' | 'unauthorized' | 'draining';

const ILLNESSES: Readonly<Record<Illness, string>> = {
  stuck: 'it cannot be reached, or answers nobody',
  unauthorized: 'it refused its own token',
  draining: 'it says that it is draining, and nobody here told it to',
};

/**
 * One tenant's pack: when an instance of it is started, replaced, and ended. Calls see none of this, only the lane.
 *
 * Safety: at most one instance serves and at most one is starting; the lane is closed to an instance before it is told to
 * end, in the same tick; a start that was given up never comes to serve. Progress: a wanted deployment becomes ready, or
 * its callers are refused and it is tried again.
 */
export class Deployment implements LaneEvents, StartEvents {
  readonly lane: Lane;
  readonly #deps: DeploymentDeps;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #backoff: Backoff;
  readonly #leaving: Leaving;
  readonly #doubt: Doubt;
  readonly #starts: Starts;
  #settings: DeploymentSettings;
  #state: DeploymentState = 'idle';
  /** What calls go to. */
  #serving: Started | undefined;
  /** The pack's folder, its index or its settings changed since what was built last. */
  #isStale = false;
  #block: 'operator' | 'missing-env' = 'operator';
  #seenCalls = 0;
  #usedAt = 0;
  #recycleAt = 0;
  #coolUntil = 0;
  #cancelCooling: (() => void) | undefined;

  constructor(settings: DeploymentSettings, deps: DeploymentDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#clock = deps.clock;
    const who = { tenant: settings.tenantId, deployment: settings.name };
    this.#log = deps.log.child(who);
    this.#starts = new Starts(
      { ...deps, makeRoom: () => deps.makeRoom(this), log: this.#log, packLog: deps.packLog.child(who) },
      this,
    );
    this.#backoff = new Backoff(settings.restart);
    this.#leaving = new Leaving(this.#clock, (run) =>
      this.#log.warn(
        { event: 'forced', instance: run.name },
        'too many instances leave at once: the calls of the oldest are not waited for',
      ),
    );
    this.lane = new Lane(laneSettings(settings), this);
    this.#doubt = new Doubt(this.lane, this.#clock, (suspect, isAlive) => this.#doubtOver(suspect, isAlive));
  }

  get settings(): DeploymentSettings {
    return this.#settings;
  }

  get source(): Source {
    return this.#deps.source;
  }

  get state(): DeploymentState {
    return this.#state;
  }

  get serving(): Run | undefined {
    return this.#serving?.run;
  }

  /** The instance that is starting, once its process has been launched. */
  get next(): Run | undefined {
    return this.#starts.current?.instance;
  }

  get isBooting(): boolean {
    return this.#starts.current !== undefined;
  }

  get alive(): readonly Run[] {
    return this.#starts.alive;
  }

  get past(): Past {
    return this.#starts.past;
  }

  get failures(): number {
    return this.#backoff.failures;
  }

  /** Until the next start may be tried, in milliseconds; undefined unless it cools. */
  get retryInMs(): number | undefined {
    return this.#state === 'cooling' ? Math.max(0, this.#coolUntil - this.#clock.now()) : undefined;
  }

  /** Since when nobody uses it, on the clock; undefined where it cannot be stopped to make room. */
  get coldSince(): number | undefined {
    const target = this.lane.current;
    const isCold =
      this.#state === 'ready' &&
      !this.isBooting &&
      target?.inFlight === 0 &&
      this.lane.waiting === 0 &&
      this.#settings.start === 'lazy';
    if (!isCold) return undefined;
    // The sweep has not seen the last calls yet.
    if (this.lane.calls !== this.#seenCalls) return this.#clock.now();
    return this.#usedAt;
  }

  /** A call is coming and there is nothing to serve it. */
  onWanted(): void {
    if (this.#move('wanted')) this.#begin('call', 'call');
    else if (this.#state === 'starting') this.#starts.current?.hurry();
  }

  onOutcome(target: Target, outcome: Outcome): void {
    const serving = this.#serving;
    if (this.#state !== 'ready' || serving?.target !== target) return;
    if (outcome === 'unauthorized' || outcome === 'draining') this.#replaceSick(serving, outcome);
    if (outcome === 'unreachable' || outcome === 'lost') this.#doubt.ask(serving, 0);
    if (outcome === 'late') this.#doubt.ask(serving, BUSY_MS);
  }

  /** Starts what is to be up without a call. */
  open(): void {
    if (this.#settings.start === 'eager' && this.#move('wanted')) this.#begin('eager', 'eager');
  }

  /** Called by the sweep: stops what has not been used for `idle`, replaces what has been used up. */
  tick(now: number): void {
    const target = this.lane.current;
    if (this.#state !== 'ready' || target === undefined || this.#serving === undefined) return;
    if (target.inFlight > 0 || this.lane.waiting > 0 || this.lane.calls !== this.#seenCalls) {
      this.#seenCalls = this.lane.calls;
      this.#usedAt = now;
    }
    if (this.isBooting) return;
    const isUnused = this.#settings.start === 'lazy' && now - this.#usedAt >= this.#settings.idleMs;
    if (isUnused && this.coldSince !== undefined) return this.rest('idle');
    if (now < this.#recycleAt) return;
    const reason = recycleReason(this.#settings.recycle, this.#serving.run, now);
    if (reason === undefined) return;
    this.#recycleAt = now + RECYCLE_AGAIN_MS;
    this.#log.info({ event: 'recycle', instance: this.#serving.run.name, reason }, `recycled: ${reason}`);
    this.replace('recycle', false);
  }

  /** Stops what nobody uses, until the next call: never one that a call is on its way to. */
  rest(why: 'idle' | 'memory'): void {
    const serving = this.#serving;
    if (this.coldSince === undefined || serving === undefined || !this.#move('unused')) return;
    this.#takeOut();
    this.lane.shut();
    this.#log.info({ event: 'idle', instance: serving.run.name, why }, 'stopped until the next call');
    this.#leaving.retire(serving.run, serving.target);
  }

  /**
   * Another instance is to serve: it is started, and takes over once it has been proven; if it fails, everything stays as
   * it is. A start under way is given up for it. Undefined: not now, it is stopped or closed.
   */
  replace(cause: StartCause, isFresh: boolean): Boot | undefined {
    // A rollback goes back to what was kept, whatever has changed since.
    this.#isStale = cause !== 'rollback' && (this.#isStale || isFresh);
    if (this.#state === 'stopped' && this.#block === 'missing-env') this.#move('start');
    if (this.#move('wanted')) this.lane.shut();
    else if (!this.#move('replace')) return undefined;
    else if (this.#state === 'starting') {
      // It cooled, or another start was under way.
      this.#cancelCooling?.();
      if (!this.isBooting) this.lane.shut();
    }
    return this.#begin(cause, 'replace');
  }

  /**
   * The settings changed. With `isReplace` what runs must be another process: it is replaced where something runs or is
   * about to; what sleeps is started anew when it is wanted.
   */
  update(settings: DeploymentSettings, isReplace: boolean): void {
    this.#settings = settings;
    this.lane.update(laneSettings(settings));
    this.#backoff.update(settings.restart);
    this.#deps.source.update(settings);
    if (isReplace) this.renew('settings');
    this.open();
  }

  /** What it is made from changed. Nothing that sleeps is woken, and what an operator stopped stays stopped. */
  renew(cause: 'settings' | 'index'): void {
    this.#isStale = true;
    if (this.#state !== 'idle') this.replace(cause, true);
  }

  /** Refuses calls and ends every process, calls in flight or not, until `start`. Settles when all have ended. */
  async stop(): Promise<void> {
    if (!this.#move('stop')) return;
    this.#block = 'operator';
    this.lane.refuse(() => new Refusal('stopped'));
    await this.#endAll('stopped');
  }

  /** Undoes `stop`; a pack whose environment was missing is tried again. Returns whether it was stopped. */
  start(): boolean {
    if (!this.#move('start')) return false;
    this.lane.shut();
    return true;
  }

  /** Refuses calls from now on and tells every process to end, in this tick. Settles when all have ended. */
  async close(why: 'drain' | 'removed'): Promise<void> {
    if (!this.#move('close')) return;
    if (why === 'drain') this.lane.drain();
    else this.lane.refuse(() => new Refusal('pack-tenant-mismatch'));
    await Promise.all([this.#deps.source.close(), this.#endAll('closed')]);
  }

  /** Cuts a `close` short: what is left of every process is killed. */
  kill(): void {
    for (const run of this.alive) run.kill();
  }

  /** Starts an instance; one that is under way is given up for it. */
  #begin(cause: StartCause, urgency: Urgency): Boot {
    return this.#starts.begin(this.#settings, { cause, urgency, isFresh: this.#isStale });
  }

  onReady(boot: Boot, started: Started): void {
    const { run, target, recipe } = started;
    // Its process can have ended between the proof and this line.
    if (run.state !== 'ready') throw new StartFailure('proof', 'exited', 'ended right after it was proven');
    if (!this.#move('ready')) return;
    const old = this.#serving;
    if (old !== undefined) this.#takeOut();
    this.#starts.conclude(boot);
    this.#serving = started;
    this.#usedAt = this.#clock.now();
    this.#isStale &&= !boot.isFresh;
    this.#deps.source.keep(recipe);
    this.past.forgetReason();
    const { steps } = boot.record;
    const bootMs = steps.reduce((sum, { ms }) => sum + ms, 0);
    const { name, pid, verdict, build } = run;
    this.#log.info({ event: 'instance-ready', instance: name, pid, bootMs, verdict, build }, 'instance ready');
    this.lane.open(target);
    if (old !== undefined) {
      this.#log.info(
        { event: 'swapped', from: old.run.name, to: name, cause: boot.cause },
        'new calls go to the next instance',
      );
      this.#leaving.retire(old.run, old.target);
    }
    boot.conclude({ ok: true, message: `${name} serves build ${build}` });
  }

  onFailed(boot: Boot, failure: StartFailure): void {
    this.#starts.conclude(boot);
    const { step, code, problems, message } = failure;
    const facts = { event: 'start-failed', instance: boot.name, cause: boot.cause, step, code, problems };
    this.past.noteReason(code, message);
    if (this.#serving !== undefined) {
      this.#isStale = false;
      const text = `the next instance failed, ${this.#serving.run.name} goes on serving: ${message}`;
      this.#log.error({ ...facts, serving: this.#serving.run.name }, text);
    } else if (code === 'missing-env') {
      this.#move('stop');
      this.#block = 'missing-env';
      this.#log.error(facts, `start failed: ${message} Not tried again before a reload or a start is ordered.`);
      this.lane.refuse(() => new Refusal('missing-env'));
    } else if (code === 'no-memory') {
      this.#log.warn(facts, `start failed: ${message}`);
      this.#cool(NO_MEMORY_MS, 'memory');
    } else {
      const delayMs = this.#backoff.startFailed();
      this.#log.error({ ...facts, failures: this.#backoff.failures, retryInMs: delayMs }, `start failed: ${message}`);
      this.#cool(delayMs, 'cooling');
    }
    boot.conclude({ ok: false, code, message, problems });
  }

  onExited(run: Run, exit: Exit): void {
    this.#leaving.forget(run);
    if (run.target !== undefined) this.lane.forget(run.target);
    const isCrash = this.#state === 'ready' && this.#serving?.run === run;
    const facts = { event: 'instance-exited', instance: run.name, exit, expected: !isCrash };
    if (!isCrash) {
      this.#log.info(facts, 'instance ended');
      return;
    }
    const retryInMs = this.#lose();
    this.past.noteReason('crashed', `${run.name} ended by itself (${describeExit(exit)})`);
    this.#log.error({ ...facts, retryInMs }, 'instance ended by itself');
    if (this.lane.waiting > 0 && this.#move('wanted')) this.#begin('crash', 'call');
    else this.open();
  }

  /** Whether it still lives has become known. */
  #doubtOver(suspect: Started, isAlive: boolean): void {
    if (this.#state !== 'ready' || this.#serving !== suspect) return;
    if (!isAlive) this.#replaceSick(suspect, 'stuck');
    else if (this.lane.current === undefined) this.lane.open(suspect.target);
  }

  /** Its process runs, but calls cannot go there: a new one is started, and calls that it has may still end. */
  #replaceSick({ run, target }: Started, illness: Illness): void {
    const why = ILLNESSES[illness];
    const retryInMs = this.#lose();
    this.past.noteReason(illness, `${run.name} was replaced: ${why}`);
    this.#log.error(
      { event: 'instance-sick', instance: run.name, illness, retryInMs },
      `the instance is replaced: ${why}`,
    );
    // One that drains ends by itself; a second signal would cut its calls.
    if (illness === 'draining') this.#leaving.await(run, run.killAfterMs, () => run.kill());
    else
      this.#leaving.giveUp(run, target, SICK_GRACE_MS, () => run.stop(illness === 'stuck' ? STUCK_KILL_MS : undefined));
    if (this.#move('wanted')) this.#begin('crash', this.lane.waiting > 0 ? 'call' : 'replace');
  }

  /** What serves is lost. Returns the delay before the next start in milliseconds. */
  #lose(): number {
    this.#takeOut();
    const delayMs = this.#backoff.crashed();
    if (this.isBooting) {
      // The one that was to follow it is on its way already.
      this.#move('lost');
      this.lane.shut();
      return 0;
    }
    if (delayMs > 0) this.#cool(delayMs, 'cooling');
    else {
      this.#move('again');
      this.lane.shut();
    }
    return delayMs;
  }

  /** It serves no more; how long it was ready counts for the delays. */
  #takeOut(): void {
    const readyAt = this.#serving?.run.readyAt;
    if (readyAt !== undefined) this.#backoff.wasReady(this.#clock.now() - readyAt);
    this.#serving = undefined;
  }

  #cool(delayMs: number, code: 'cooling' | 'memory'): void {
    this.#move('failed');
    this.#coolUntil = this.#clock.now() + delayMs;
    this.lane.refuse(() => new Refusal(code, { retryAfterS: (this.#coolUntil - this.#clock.now()) / 1000 }));
    this.#cancelCooling = this.#clock.after(delayMs, () => {
      if (!this.#move('cooled')) return;
      this.lane.shut();
      this.open();
    });
  }

  async #endAll(why: 'stopped' | 'closed'): Promise<void> {
    this.#cancelCooling?.();
    this.#starts.giveUp(why, `the deployment was ${why}`);
    this.#takeOut();
    for (const run of this.alive) run.stop();
    await this.#starts.settled();
  }

  #move(event: DeploymentEvent): boolean {
    const state = next(DEPLOYMENT_MOVES, this.#state, event);
    if (state !== undefined) this.#state = state;
    return state !== undefined;
  }
}

function laneSettings({ tenantId, name, queue }: DeploymentSettings): LaneSettings {
  return { tenantId, deployment: name, queue };
}

/** In words. */
export function describeExit(exit: Exit): string {
  if (exit.kind === 'spawn-failed') return exit.reason;
  return exit.kind === 'code' ? `exit code ${exit.code}` : `signal ${exit.signal}`;
}
