import type { Logger } from 'pino';
import { tenantKey } from '../../shared/protocol/tenantId.ts';
import type { Clock } from '../clock.ts';
import type { Changes } from '../config/changes.ts';
import type { Configuration, DeploymentSettings } from '../config/configuration.ts';
import { BootGate } from './bootGate.ts';
import { MemoryBudget } from './budget.ts';
import type { CreateRun } from './boot.ts';
import { Deployment } from './deployment.ts';
import type { Source } from './recipe.ts';

/** How often all deployments are looked at together; idle times are that exact. */
const SWEEP_MS = 100;

/** How often the memory of all instances is measured. */
const MEASURE_MS = 5_000;

export interface SupervisorDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly packLog: Logger;
  readonly create: CreateRun;
  readonly sourceOf: (settings: DeploymentSettings) => Source;
}

/** All deployments of a gateway: one sweep, one limit for starts, one budget for memory, one end for all. */
export class Supervisor {
  readonly budget: MemoryBudget;
  readonly #deps: SupervisorDeps;
  readonly #gate: BootGate;
  /** In the configuration's order. */
  #deployments = new Map<string, Deployment>();
  /** Those that were removed and whose processes may still end. */
  readonly #removed = new Set<Deployment>();
  #isClosed = false;
  #cancelSweep: (() => void) | undefined;
  #cancelMeasure: (() => void) | undefined;

  constructor({ deployments, boots, memoryBytes }: Configuration, deps: SupervisorDeps) {
    this.#deps = deps;
    this.#gate = new BootGate(boots, deps.clock);
    this.budget = new MemoryBudget(() => [...this.#deployments.values(), ...this.#removed]);
    this.budget.limitBytes = memoryBytes;
    for (const settings of deployments) this.#deployments.set(keyOf(settings), this.#create(settings));
  }

  get deployments(): readonly Deployment[] {
    return [...this.#deployments.values()];
  }

  find(tenantId: string, name: string): Deployment | undefined {
    return this.#deployments.get(keyOf({ tenantId, name }));
  }

  open(): void {
    for (const deployment of this.#deployments.values()) deployment.open();
    this.#sweep();
    this.#measure();
  }

  /** Goes by another configuration: what changed is added, replaced or removed; nothing else moves. */
  apply({ deployments, boots, memoryBytes }: Configuration, { changed, removed }: Changes): void {
    if (this.#isClosed) return;
    this.#gate.places = boots;
    this.budget.limitBytes = memoryBytes;
    for (const settings of removed) this.#remove(settings);
    for (const { settings, isReplace } of changed)
      this.find(settings.tenantId, settings.name)?.update(settings, isReplace);
    const before = this.#deployments;
    this.#deployments = new Map(
      deployments.map((settings) => [keyOf(settings), before.get(keyOf(settings)) ?? this.#create(settings)]),
    );
    for (const deployment of this.#deployments.values()) deployment.open();
  }

  /** The file is another one now: whoever serves it is replaced. */
  indexChanged(path: string): void {
    for (const deployment of this.#deployments.values()) {
      if (deployment.settings.index === path) deployment.renew('index');
    }
  }

  /** Tells every process to end, all in one tick. Settles when none is left: one child's grace, for one or for 500. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelSweep?.();
    this.#cancelMeasure?.();
    const kept = this.deployments.map((deployment) => deployment.close('drain'));
    const removed = [...this.#removed].flatMap(({ alive }) => alive.map(({ finished }) => finished));
    await Promise.all([...kept, ...removed]);
  }

  /** Cuts a `close` short. */
  kill(): void {
    for (const deployment of [...this.#deployments.values(), ...this.#removed]) deployment.kill();
  }

  #create(settings: DeploymentSettings): Deployment {
    const { clock, log, packLog, create, sourceOf } = this.#deps;
    const makeRoom = (deployment: Deployment): Promise<boolean> => this.budget.makeRoom(deployment);
    return new Deployment(settings, {
      source: sourceOf(settings),
      gate: this.#gate,
      makeRoom,
      create,
      clock,
      log,
      packLog,
    });
  }

  #remove(settings: DeploymentSettings): void {
    const key = keyOf(settings);
    const deployment = this.#deployments.get(key);
    if (deployment === undefined) return;
    this.#deployments.delete(key);
    this.#removed.add(deployment);
    void deployment.close('removed').then(() => this.#removed.delete(deployment));
  }

  #sweep(): void {
    this.#cancelSweep = this.#deps.clock.after(SWEEP_MS, () => {
      const now = this.#deps.clock.now();
      for (const deployment of this.#deployments.values()) deployment.tick(now);
      this.#sweep();
    });
  }

  #measure(): void {
    this.#cancelMeasure = this.#deps.clock.after(MEASURE_MS, () => {
      void this.budget.check().then(() => {
        if (!this.#isClosed) this.#measure();
      });
    });
  }
}

function keyOf({ tenantId, name }: Pick<DeploymentSettings, 'tenantId' | 'name'>): string {
  return `${tenantKey(tenantId)}\0${name}`;
}
