import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { DeploymentSettings } from '../config/configuration.ts';
import { Boot } from './boot.ts';
import type { CreateRun, Run, Started } from './boot.ts';
import type { BootGate, Urgency } from './bootGate.ts';
import { Past } from './past.ts';
import type { Exit } from './process.ts';
import type { Source } from './recipe.ts';
import { relay } from './relay.ts';
import { StartFailure } from './startFailure.ts';
import type { StartCause } from './status.ts';

/** What comes of the start that counts, and of every process. */
export interface StartEvents {
  /** @throws {StartFailure} when it cannot serve after all. */
  onReady(boot: Boot, started: Started): void;
  onFailed(boot: Boot, failure: StartFailure): void;
  onExited(run: Run, exit: Exit): void;
}

export interface StartsDeps {
  readonly source: Source;
  readonly gate: BootGate;
  /** Settles with whether there is memory for one more instance. */
  readonly makeRoom: () => Promise<boolean>;
  readonly create: CreateRun;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where what the pack prints is shown. */
  readonly packLog: Logger;
}

export interface StartOrder {
  readonly cause: StartCause;
  readonly urgency: Urgency;
  /** See `PrepareOrder`. */
  readonly isFresh: boolean;
}

/**
 * The starts of a deployment, and every process that came of one.
 *
 * Safety: one start counts at a time, the newest; what becomes of any other is about the past, and nobody hears of it.
 */
export class Starts {
  readonly past = new Past();
  readonly #deps: StartsDeps;
  readonly #events: StartEvents;
  /** Every instance whose process may still run, oldest first. */
  readonly #alive = new Set<Run>();
  /** Starts that have not settled yet, those that were given up among them. */
  readonly #unsettled = new Set<Promise<void>>();
  #current: Boot | undefined;
  #count = 0;

  constructor(deps: StartsDeps, events: StartEvents) {
    this.#deps = deps;
    this.#events = events;
  }

  /** The start under way that counts. */
  get current(): Boot | undefined {
    return this.#current;
  }

  get alive(): readonly Run[] {
    return [...this.#alive];
  }

  /** Starts an instance; a start that is under way is given up for it. */
  begin({ tenantId, name: deployment }: DeploymentSettings, order: StartOrder): Boot {
    this.giveUp('superseded', 'a newer start took its place');
    this.#count += 1;
    const name = `${deployment}#${this.#count}`;
    const { log, packLog } = this.#deps;
    const boot = new Boot({
      ...this.#deps,
      ...order,
      name,
      tenantId,
      onLaunched: (run) => this.#launched(run, order.cause),
      onOutput: (line, cutBytes, isProving) => relay(packLog, line, { instance: name, cutBytes, isProving }),
      onDropped: (lines) =>
        log.warn({ event: 'output-dropped', instance: name, lines }, 'the pack prints more than is shown'),
    });
    this.#current = boot;
    this.past.add(boot);
    const settled = this.#follow(boot);
    this.#unsettled.add(settled);
    void settled.then(() => this.#unsettled.delete(settled));
    return boot;
  }

  /** It is over; whatever it became counts no more. */
  conclude(boot: Boot): void {
    if (this.#current === boot) this.#current = undefined;
  }

  /** Gives up the start that is under way, if there is one: whoever ordered it is told why. */
  giveUp(code: string, message: string): void {
    const boot = this.#current;
    this.#current = undefined;
    boot?.cancel();
    boot?.conclude({ ok: false, code, message, problems: [] });
  }

  /** Settles when nothing is starting and no process is left. */
  async settled(): Promise<void> {
    await Promise.all([...this.#unsettled, ...[...this.#alive].map((run) => run.finished)]);
  }

  async #follow(boot: Boot): Promise<void> {
    try {
      const started = await boot.run();
      if (this.#current === boot) this.#events.onReady(boot, started);
    } catch (cause) {
      const failure = cause instanceof StartFailure ? cause : new StartFailure('launch', 'spawn-failed', String(cause));
      if (this.#current === boot) this.#events.onFailed(boot, failure);
    }
  }

  #launched(run: Run, cause: StartCause): void {
    this.#alive.add(run);
    const facts = { event: 'instance-starting', instance: run.name, pid: run.pid, cause, build: run.build };
    this.#deps.log.info(facts, 'instance starting');
    void run.exited.then((exit) => this.#events.onExited(run, exit));
    void run.finished.then(() => this.#alive.delete(run));
  }
}
