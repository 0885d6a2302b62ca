import type { Logger } from 'pino';
import type { Builds } from './builds.ts';
import type { PackTree } from './packTree.ts';
import { takeSnapshot } from './snapshot.ts';

/** The copies of a deployment's code: which are being made, and why one was not. */
export class Snapshots {
  readonly #builds: Builds;
  readonly #log: Logger;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #troubles = new Map<string, string>();
  readonly #end = new AbortController();

  constructor(builds: Builds, log: Logger) {
    this.#builds = builds;
    this.#log = log;
  }

  /** Builds whose code is being copied. */
  get underWay(): Iterable<string> {
    return this.#underWay.keys();
  }

  /** Begins to copy the code of a build, unless that has been done. */
  take(id: string, tree: PackTree): void {
    if (this.#underWay.has(id) || this.#builds.hasSnapshot(id)) return;
    const copying = takeSnapshot(tree, this.#builds.snapshotOf(id), this.#end.signal).then((trouble) => {
      this.#underWay.delete(id);
      if (trouble === undefined || this.#end.signal.aborted) return;
      this.#troubles.set(id, trouble);
      const facts = { event: 'no-snapshot', build: id, reason: trouble };
      this.#log.warn(facts, 'no copy of the code of this build is kept: it cannot be gone back to');
    });
    this.#underWay.set(id, copying);
  }

  /** Why this build cannot be gone back to, in words for the operator; undefined when it can, once its copy is made. */
  troubleWith(id: string): string | undefined {
    if (this.#underWay.has(id) || this.#builds.hasSnapshot(id)) return undefined;
    const why = this.#troubles.get(id) ?? 'none was made';
    return `Build ${id} cannot be gone back to, no copy of its code is kept: ${why}`;
  }

  /** Settles when the code of this build is not being copied any more. */
  async finished(id: string): Promise<void> {
    await this.#underWay.get(id);
  }

  /** Forgets all other builds. */
  retain(ids: ReadonlySet<string>): void {
    for (const id of this.#troubles.keys()) if (!ids.has(id)) this.#troubles.delete(id);
  }

  /** Leaves no copy half made, and makes none any more. */
  giveUp(): void {
    this.#end.abort();
  }

  /** Settles when nothing is copied. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }
}
