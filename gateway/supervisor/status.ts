import type { Exit } from './process.ts';
import type { DeploymentState, InstanceState } from './lifecycle.ts';
import type { Verdict } from './proof.ts';
import type { StartFailureCode, StartStep } from './startFailure.ts';

/** Why an instance was started. */
export type StartCause =
  /** A call came and nothing served it. */
  | 'call'
  /** `start: eager`. */
  | 'eager'
  /** The one before ended by itself, or could not be reached any more. */
  | 'crash'
  /** The configuration of the deployment changed. */
  | 'settings'
  /** The index file changed. */
  | 'index'
  /** It was as old, had as many calls or was as large as `recycle` lets it be. */
  | 'recycle'
  /** An operator said so. */
  | 'reload'
  | 'restart'
  | 'start'
  | 'rollback';

/** One start, from the wish to its end: what an operator looks at when a pack does not come up. */
export interface BootRecord {
  /** `<deployment>#<number>`. */
  readonly instance: string;
  readonly cause: StartCause;
  /** When it began, ISO 8601. */
  readonly at: string;
  readonly outcome: 'running' | 'ready' | 'failed' | 'cancelled';
  /** How long each step took, in milliseconds and in order; the last one is where it is, or where it stopped. */
  readonly steps: readonly { readonly step: 'queue' | StartStep; readonly ms: number }[];
  readonly failure?: BootFailure;
  /** How its process ended, once it has. */
  readonly exit?: Exit;
  /** What the proof found; there once ready. */
  readonly verdict?: Verdict;
  /** The last lines that the process printed, oldest first, of records the message; each cut to a bounded length, its token masked. */
  readonly lastOutput: readonly string[];
}

export interface BootFailure {
  readonly step: StartStep;
  readonly code: StartFailureCode;
  readonly message: string;
  /** The service's or the indexer's own texts. */
  readonly problems: readonly string[];
}

export interface InstanceStatus {
  readonly name: string;
  readonly state: InstanceState;
  readonly pid?: number;
  /** Which build of the pack it serves. */
  readonly build?: string;
  /** When it became ready, ISO 8601. */
  readonly readyAt?: string;
  readonly callsInFlight: number;
  /** Calls it was ever given. */
  readonly calls: number;
  /** Proportional memory (PSS) of its processes when last measured. */
  readonly memoryBytes?: number;
}

/** Everything there is to know of a deployment, as plain data. No secret, no environment value. */
export interface DeploymentStatus {
  readonly tenant: string;
  readonly deployment: string;
  readonly state: DeploymentState;
  /** Why it does not serve, or why its last replacement was refused; in words, for the operator. */
  readonly reason?: { readonly code: string; readonly message: string; readonly at: string };
  /** While cooling: until the next start, in milliseconds. */
  readonly retryInMs?: number;
  /** Failures in a row that are not forgiven yet. */
  readonly failures: number;
  /** The instance that serves. */
  readonly serving?: InstanceStatus;
  /** The instance that is starting, to serve or to take over. */
  readonly next?: InstanceStatus;
  /** Instances that end: taken out, with calls that may finish. */
  readonly leaving: readonly InstanceStatus[];
  readonly calls: { readonly inFlight: number; readonly waiting: number; readonly total: number };
  /** Of all its processes, when last measured. */
  readonly memoryBytes?: number;
  /** Build that is served, and the one that `rollback` goes to. */
  readonly build?: string;
  readonly previousBuild?: string;
  readonly isRolledBack: boolean;
  /** The last starts, newest first. */
  readonly boots: readonly BootRecord[];
}

/** How an order to a deployment ended. */
export type Done =
  | { readonly ok: true; readonly message: string }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly problems: readonly string[] };

/** What became of an order: refused at once, or taken, to be done some time. */
export type Order =
  | { readonly accepted: true; readonly done: Promise<Done> }
  | { readonly accepted: false; readonly code: string; readonly message: string };

export type OrderName = 'reload' | 'restart' | 'stop' | 'start' | 'rollback';
