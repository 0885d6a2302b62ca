import type { Logger } from 'pino';
import { Refusal } from '../../shared/http/refusal.ts';
import type { StderrLine } from '../../shared/process/records.ts';
import type { Clock } from '../clock.ts';
import type { DeploymentSettings } from '../config/configuration.ts';
import { Lane } from '../lane/lane.ts';
import type { LaneEvents, Outcome } from '../lane/lane.ts';
import type { Target } from '../lane/target.ts';
import { Backoff } from './backoff.ts';
import { Instance } from './instance.ts';
import type { InstanceRecipe } from './instance.ts';
import { DEPLOYMENT_MOVES, next } from './lifecycle.ts';
import type { DeploymentEvent, DeploymentState } from './lifecycle.ts';
import type { Exit } from './process.ts';
import { relay } from './relay.ts';
import { StartFailure } from './startFailure.ts';

/** What a deployment makes its instances from, gathered anew for each start. */
export interface Source {
  /** @throws {StartFailure} when the index cannot be had. */
  prepare(): Promise<InstanceRecipe>;
  /** Gives up what `prepare` is doing; settles when no process of it is left. */
  cancel(): Promise<void>;
}

export interface DeploymentDeps {
  readonly source: Source;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where what the pack prints is shown. */
  readonly packLog: Logger;
}

/** An instance that is replaced because it is sick gets this long for the calls that it may still be working on. */
const SICK_GRACE_MS = 5_000;

/**
 * One tenant's pack: when an instance of it is started, and when one is ended. Calls see none of this, only the lane.
 *
 * Safety: at most one instance is starting or serving; the lane is closed to an instance before it is told to end, in
 * the same tick. Progress: a wanted deployment becomes ready, or its callers are refused and it is tried again.
 */
export class Deployment implements LaneEvents {
  readonly settings: DeploymentSettings;
  readonly lane: Lane;
  readonly #source: Source;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #packLog: Logger;
  readonly #backoff: Backoff;
  /** Every instance whose process may still run. */
  readonly #alive = new Set<Instance>();
  #state: DeploymentState = 'idle';
  /** The one that is starting or serving. Events of any other are about the past. */
  #current: Instance | undefined;
  #starts = 0;
  #readyAt = 0;
  #seenCalls = 0;
  #usedAt = 0;
  #cancelCooling: (() => void) | undefined;

  constructor(settings: DeploymentSettings, { source, clock, log, packLog }: DeploymentDeps) {
    this.settings = settings;
    this.#source = source;
    this.#clock = clock;
    const who = { tenant: settings.tenantId, deployment: settings.name };
    this.#log = log.child(who);
    this.#packLog = packLog.child(who);
    this.#backoff = new Backoff(settings.restart);
    const { tenantId, name, concurrency, queue } = settings;
    this.lane = new Lane({ tenantId, deployment: name, concurrency, queue }, this);
  }

  onWanted(): void {
    if (!this.#move('wanted')) return;
    this.#starts += 1;
    void this.#start(`${this.settings.name}#${this.#starts}`);
  }

  onOutcome(target: Target, outcome: Outcome): void {
    const instance = this.#current;
    if (this.#state !== 'ready' || instance?.target !== target) return;
    if (outcome === 'unauthorized') this.#replaceSick(instance, target, 'it refused its own token');
    if (outcome === 'unreachable' || outcome === 'lost') void this.#doubt(instance, target);
  }

  /** Called by the sweep: stops what has not been used for `idle`. */
  checkIdle(now: number): void {
    const { lane } = this;
    const target = lane.current;
    if (this.#state !== 'ready' || target === undefined) return;
    if (target.inFlight > 0 || lane.waiting > 0 || lane.calls !== this.#seenCalls) {
      this.#seenCalls = lane.calls;
      this.#usedAt = now;
      return;
    }
    if (now - this.#usedAt < this.settings.idleMs || !this.#move('unused')) return;
    const instance = this.#current;
    this.#current = undefined;
    this.#backoff.wasReady(now - this.#readyAt);
    lane.shut();
    this.#log.info({ event: 'idle', instance: instance?.name }, 'stopped until the next call');
    target.close(() => instance?.stop());
  }

  /** Refuses calls from now on and tells every process to end, in this tick. Settles when all have ended. */
  async close(): Promise<void> {
    if (!this.#move('close')) return;
    this.#cancelCooling?.();
    this.lane.drain();
    const cancelled = this.#source.cancel();
    const ending = [...this.#alive].map((instance) => {
      instance.stop();
      return instance.finished;
    });
    await Promise.all([cancelled, ...ending]);
  }

  /** Cuts a `close` short: what is left of every process is killed. */
  kill(): void {
    for (const instance of this.#alive) instance.kill();
  }

  async #start(name: string): Promise<void> {
    const from = this.#clock.now();
    try {
      const recipe = await this.#source.prepare();
      if (this.#state !== 'starting') return;
      const { tenantId } = this.settings;
      const onOutput = (line: StderrLine, cutBytes: number): void =>
        relay(this.#packLog, line, { instance: name, cutBytes, isProving: this.#state === 'starting' });
      const onDropped = (lines: number): void =>
        this.#log.warn({ event: 'output-dropped', instance: name, lines }, 'the pack prints more than is shown');
      const instance = new Instance({ ...recipe, name, tenantId, clock: this.#clock, onOutput, onDropped });
      this.#current = instance;
      this.#alive.add(instance);
      const starting = instance.start();
      this.#log.info({ event: 'instance-starting', instance: name, pid: instance.pid }, 'instance starting');
      void instance.exited.then((exit) => this.#exited(instance, exit));
      void instance.finished.then(() => this.#alive.delete(instance));
      const target = await starting;
      if (this.#current === instance) this.#ready(instance, target, this.#clock.now() - from);
    } catch (cause) {
      this.#startFailed(name, cause);
    }
  }

  #ready(instance: Instance, target: Target, bootMs: number): void {
    // Its process can have ended between the proof and this line.
    if (instance.state !== 'ready') throw new StartFailure('proof', 'exited', 'ended right after it was proven');
    if (!this.#move('ready')) return;
    this.#readyAt = this.#clock.now();
    this.#usedAt = this.#readyAt;
    const { verdict, pid } = instance;
    this.#log.info(
      { event: 'instance-ready', instance: instance.name, pid, bootMs: Math.round(bootMs), verdict },
      'instance ready',
    );
    this.lane.open(target);
  }

  #startFailed(name: string, cause: unknown): void {
    if (this.#state !== 'starting') return;
    this.#current = undefined;
    const failure = cause instanceof StartFailure ? cause : new StartFailure('launch', 'spawn-failed', String(cause));
    const { step, code, problems, message } = failure;
    const facts = { event: 'start-failed', instance: name, step, code, problems };
    if (code === 'missing-env') {
      this.#move('block');
      this.#log.error(facts, `start failed: ${message} Not tried again until the gateway is started anew.`);
      this.lane.refuse(() => new Refusal('missing-env'));
      return;
    }
    const delayMs = this.#backoff.startFailed();
    this.#log.error({ ...facts, failures: this.#backoff.failures, retryInMs: delayMs }, `start failed: ${message}`);
    this.#cool(delayMs);
  }

  #exited(instance: Instance, exit: Exit): void {
    const isCrash = this.#current === instance && this.#state === 'ready';
    const facts = { event: 'instance-exited', instance: instance.name, exit, expected: !isCrash };
    if (instance.target !== undefined) this.lane.forget(instance.target);
    if (!isCrash) {
      this.#log.info(facts, 'instance ended');
      return;
    }
    const delayMs = this.#replace();
    this.#log.error({ ...facts, retryInMs: delayMs }, 'instance ended by itself');
    if (delayMs === 0 && this.lane.waiting > 0) this.onWanted();
  }

  /**
   * A process that dies closes its connections first, its listener later, and is reported last: until it is known
   * whether it lives, no call is sent where it would be lost.
   */
  async #doubt(instance: Instance, target: Target): Promise<void> {
    // Somebody doubts it already.
    if (this.lane.current !== target) return;
    this.lane.shut();
    const isAlive = await instance.isAlive();
    if (this.#state !== 'ready' || this.#current !== instance) return;
    if (isAlive) this.lane.open(target);
    else this.#replaceSick(instance, target, 'it cannot be reached');
  }

  /** Its process runs, but calls cannot go there: a new one is started, and calls that it has may still end. */
  #replaceSick(instance: Instance, target: Target, why: string): void {
    const delayMs = this.#replace();
    const facts = { event: 'instance-sick', instance: instance.name, retryInMs: delayMs };
    this.#log.error(facts, `the instance is replaced: ${why}`);
    const cancelPatience = this.#clock.after(SICK_GRACE_MS, () => instance.stop());
    target.close(() => {
      cancelPatience();
      instance.stop();
    });
    if (delayMs === 0) this.onWanted();
  }

  /** Takes the serving instance out. Returns the delay before the next start in milliseconds. */
  #replace(): number {
    this.#current = undefined;
    this.#backoff.wasReady(this.#clock.now() - this.#readyAt);
    const delayMs = this.#backoff.crashed();
    if (delayMs > 0) this.#cool(delayMs);
    else {
      this.#move('restart');
      this.lane.shut();
    }
    return delayMs;
  }

  #cool(delayMs: number): void {
    this.#move('failed');
    const until = this.#clock.now() + delayMs;
    this.lane.refuse(() => new Refusal('cooling', { retryAfterS: (until - this.#clock.now()) / 1000 }));
    this.#cancelCooling = this.#clock.after(delayMs, () => {
      if (this.#move('cooled')) this.lane.shut();
    });
  }

  #move(event: DeploymentEvent): boolean {
    const state = next(DEPLOYMENT_MOVES, this.#state, event);
    if (state !== undefined) this.#state = state;
    return state !== undefined;
  }
}
