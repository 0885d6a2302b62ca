import type { Run } from './boot.ts';
import type { Deployment } from './deployment.ts';
import { memoryOf } from './memory.ts';

/** What an instance is taken to need of which nothing is known, where no other has been measured either. */
const UNKNOWN_BYTES = 48 * 1024 * 1024;

/**
 * Memory of all instances together. What is not known is guessed: an instance is taken to need what the last one of its
 * deployment took.
 *
 * Safety: none is started while those that run and those that start take, with it, more than the budget. Progress: one
 * that nobody uses makes room; where none is idle the start is refused, and is tried again when it is wanted again.
 */
export class MemoryBudget {
  readonly #deployments: () => readonly Deployment[];
  readonly #measure: (pid: number) => Promise<number | undefined>;
  readonly #lastBytes = new WeakMap<Deployment, number>();
  #turn: Promise<unknown> = Promise.resolve();
  #limitBytes = Number.POSITIVE_INFINITY;
  #usedBytes = 0;

  constructor(
    deployments: () => readonly Deployment[],
    measure: (pid: number) => Promise<number | undefined> = memoryOf,
  ) {
    this.#deployments = deployments;
    this.#measure = measure;
  }

  /** In bytes; `Infinity` for none. */
  get limitBytes(): number {
    return this.#limitBytes;
  }

  set limitBytes(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Of all instances, when last measured. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Settles with whether one more instance of `deployment` fits; idle ones are stopped for it, the coldest first. */
  makeRoom(deployment: Deployment): Promise<boolean> {
    if (this.#limitBytes === Number.POSITIVE_INFINITY) return Promise.resolve(true);
    const turn = this.#turn.then(() => this.#makeRoom(deployment));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Measures every instance. Where they have grown beyond the budget, idle ones are stopped. */
  async check(): Promise<void> {
    await this.#measureAll();
    if (this.#usedBytes > this.#limitBytes) await this.#rest(this.#usedBytes - this.#limitBytes, undefined);
  }

  async #makeRoom(deployment: Deployment): Promise<boolean> {
    for (;;) {
      await this.#measureAll();
      const committedBytes = this.#committedBytes(deployment);
      const neededBytes = committedBytes + this.#expectedBytes(deployment) - this.#limitBytes;
      // Alone it may start whatever it is guessed to need: how much that is will be known then.
      if (neededBytes <= 0 || committedBytes === 0) return true;
      if (!(await this.#rest(neededBytes, deployment))) return false;
    }
  }

  /** Stops idle ones until so much is free, the coldest first, and waits for their ends. Whether there were any. */
  async #rest(neededBytes: number, except: Deployment | undefined): Promise<boolean> {
    const cold = this.#deployments()
      .flatMap((deployment) => {
        const { coldSince } = deployment;
        return coldSince === undefined || deployment === except ? [] : [{ deployment, coldSince }];
      })
      .toSorted((a, b) => a.coldSince - b.coldSince);
    const ending: Promise<unknown>[] = [];
    let freedBytes = 0;
    for (const { deployment } of cold) {
      if (freedBytes >= neededBytes) break;
      const { serving } = deployment;
      deployment.rest('memory');
      if (serving === undefined || deployment.serving !== undefined) continue;
      freedBytes += serving.memoryBytes ?? 0;
      ending.push(serving.finished);
    }
    await Promise.all(ending);
    return ending.length > 0;
  }

  /** What runs takes, and what is starting elsewhere will take. */
  #committedBytes(except: Deployment): number {
    return this.#deployments().reduce((sum, deployment) => {
      const bytes = bytesOf(deployment.alive);
      const isStarting = deployment.isBooting && deployment !== except;
      const startingBytes = deployment.next?.memoryBytes ?? 0;
      return sum + bytes + (isStarting ? Math.max(0, this.#expectedBytes(deployment) - startingBytes) : 0);
    }, 0);
  }

  #expectedBytes(deployment: Deployment): number {
    const known = this.#lastBytes.get(deployment);
    if (known !== undefined) return known;
    const others = this.#deployments().flatMap((other) => this.#lastBytes.get(other) ?? []);
    return others.length === 0 ? UNKNOWN_BYTES : others.reduce((sum, bytes) => sum + bytes, 0) / others.length;
  }

  async #measureAll(): Promise<void> {
    let usedBytes = 0;
    for (const deployment of this.#deployments()) {
      for (const run of deployment.alive) {
        const bytes = run.pid === undefined ? undefined : await this.#measure(run.pid);
        if (bytes !== undefined) run.noteMemory(bytes);
        usedBytes += run.memoryBytes ?? 0;
      }
      const servingBytes = deployment.serving?.memoryBytes;
      if (servingBytes !== undefined) this.#lastBytes.set(deployment, servingBytes);
    }
    this.#usedBytes = usedBytes;
  }
}

function bytesOf(runs: readonly Run[]): number {
  return runs.reduce((sum, { memoryBytes }) => sum + (memoryBytes ?? 0), 0);
}
