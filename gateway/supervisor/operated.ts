import type { Operated } from '../admin/host.ts';
import type { Clock } from '../clock.ts';
import type { Run } from './boot.ts';
import type { Deployment } from './deployment.ts';
import type { DeploymentStatus, Done, InstanceStatus, Order, OrderName } from './status.ts';

/** A deployment as its operators see it: what there is to know of it, and the orders it takes. */
export class OperatedDeployment implements Operated {
  readonly #deployment: Deployment;
  readonly #clock: Clock;

  constructor(deployment: Deployment, clock: Clock) {
    this.#deployment = deployment;
    this.#clock = clock;
  }

  get tenantId(): string {
    return this.#deployment.settings.tenantId;
  }

  get name(): string {
    return this.#deployment.settings.name;
  }

  order(name: OrderName): Order {
    switch (name) {
      case 'reload':
        return this.#replace('reload', true);
      case 'restart':
        return this.#replace('restart', false);
      case 'rollback':
        return this.#rollBack();
      case 'start':
        return this.#start();
      case 'stop':
        return this.#stop();
    }
  }

  status(): DeploymentStatus {
    const { state, failures, retryInMs, serving, next, alive, lane, past, source } = this.#deployment;
    const measured = alive.flatMap(({ memoryBytes }) => memoryBytes ?? []);
    const leaving = alive.filter((run) => run !== serving && run !== next);
    return {
      tenant: this.tenantId,
      deployment: this.name,
      state,
      ...(past.reason !== undefined && { reason: past.reason }),
      ...(retryInMs !== undefined && { retryInMs: Math.round(retryInMs) }),
      failures,
      ...(serving !== undefined && { serving: this.#instance(serving) }),
      ...(next !== undefined && { next: this.#instance(next) }),
      leaving: leaving.map((run) => this.#instance(run)),
      calls: {
        inFlight: alive.reduce((sum, { target }) => sum + (target?.inFlight ?? 0), 0),
        waiting: lane.waiting,
        total: lane.calls,
      },
      ...(measured.length > 0 && { memoryBytes: measured.reduce((sum, bytes) => sum + bytes, 0) }),
      ...(serving !== undefined && { build: serving.build }),
      ...(source.previousBuild !== undefined && { previousBuild: source.previousBuild }),
      isRolledBack: source.isRolledBack,
      boots: past.boots,
    };
  }

  #instance(run: Run): InstanceStatus {
    const { name, state, pid, build, readyAt, target, memoryBytes } = run;
    return {
      name,
      state,
      ...(pid !== undefined && { pid }),
      build,
      ...(readyAt !== undefined && { readyAt: new Date(Date.now() - (this.#clock.now() - readyAt)).toISOString() }),
      callsInFlight: target?.inFlight ?? 0,
      calls: target?.calls ?? 0,
      ...(memoryBytes !== undefined && { memoryBytes }),
    };
  }

  #replace(cause: 'reload' | 'restart' | 'rollback' | 'start', isFresh: boolean): Order {
    const boot = this.#deployment.replace(cause, isFresh);
    return boot === undefined ? this.#notNow() : { accepted: true, done: boot.concluded };
  }

  #rollBack(): Order {
    if (!this.#takesStarts()) return this.#notNow();
    const trouble = this.#deployment.source.rollBack();
    if (trouble !== undefined) return { accepted: false, code: 'no-previous-build', message: trouble };
    return this.#replace('rollback', false);
  }

  #start(): Order {
    this.#deployment.start();
    if (this.#deployment.state === 'ready') {
      return done({ ok: true, message: `${this.#deployment.serving?.name ?? 'an instance'} serves already` });
    }
    return this.#replace('start', false);
  }

  #stop(): Order {
    const message = 'stopped; calls are refused until it is started';
    return { accepted: true, done: this.#deployment.stop().then(() => ({ ok: true, message })) };
  }

  #takesStarts(): boolean {
    return this.#deployment.state !== 'closed' && this.#deployment.state !== 'stopped';
  }

  #notNow(): Order {
    return this.#deployment.state === 'stopped'
      ? { accepted: false, code: 'stopped', message: 'it has been stopped; start it first' }
      : { accepted: false, code: 'closed', message: 'it has been removed, or the gateway is stopping' };
  }
}

function done(result: Done): Order {
  return { accepted: true, done: Promise.resolve(result) };
}
