import type { DeploymentSettings } from '../config/configuration.ts';
import type { IndexFacts } from './indexFile.ts';
import type { OutputSinks, PackProcess } from './process.ts';

/** What the instances of one build of a pack have in common. */
export interface InstanceRecipe {
  /** Which build it is: tells it from the one before, and names it to operators. */
  readonly build: string;
  readonly index: IndexFacts;
  /** Starts its process, given the fresh token of this run. */
  readonly launch: (token: string, sinks: OutputSinks) => PackProcess;
  readonly requiresPortProof: boolean;
  readonly keepsConnections: boolean;
  readonly bootTimeoutMs: number;
  /** From SIGTERM to SIGKILL, the runtime's margin included (C34). */
  readonly killAfterMs: number;
  /** Calls in flight that its instances are given. */
  readonly concurrency: number;
}

export interface PrepareOrder {
  /**
   * True: look at the pack's folder anew, index it anew where the index is built here. False: the build that was kept
   * last, or, where none is, as if true.
   */
  readonly isFresh: boolean;
  /** Gives it up. `prepare` then rejects with `cancelled`, when no process of it is left. */
  readonly signal: AbortSignal;
}

/** What a deployment makes its instances from. Orders are carried out one after the other. */
export interface Source {
  /** @throws {StartFailure} when there is no index to be had. */
  prepare(order: PrepareOrder): Promise<InstanceRecipe>;
  /** An instance of this recipe serves: from now on it is the build that is gone back to. Cheap; never throws. */
  keep(recipe: InstanceRecipe): void;
  /** The build that `rollBack` goes to, if there is one. */
  readonly previousBuild: string | undefined;
  /** Whether what is kept is there because of a `rollBack`. */
  readonly isRolledBack: boolean;
  /**
   * The next `prepare` that is not fresh gives the previous build. Returns why it cannot, in words for the operator, or
   * undefined. A `keep` of it makes it last; a fresh build that is kept ends it.
   */
  rollBack(): string | undefined;
  /** The settings changed; the next `prepare` goes by them. */
  update(settings: DeploymentSettings): void;
  /** Nothing is prepared any more. Settles when nothing of it writes into the state folder any more. */
  close(): Promise<void>;
}
