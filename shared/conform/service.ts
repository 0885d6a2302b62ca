import type { StderrLine } from '../process/records.ts';

/** What `/v1/info` has to say, read from the index file that is served. */
export interface ExpectedInfo {
  readonly packId: string;
  readonly packVersion: string;
  readonly artifactVersion: string;
  readonly indexHash: string;
  readonly tools: readonly { readonly id: string; readonly version?: string }[];
  readonly checks: readonly string[];
}

/** A pack service, or a gateway in front of one, that serves the conformance pack and can be called. */
export interface Service {
  readonly host: string;
  readonly port: number;
  /** What `kindgi-pack-token` has to be. */
  readonly token: string;
  /** The tenant it is pinned to; undefined: to none. */
  readonly tenantId: string | undefined;
  readonly expectedInfo: ExpectedInfo;
  /** What is expected was read from the service's own `/v1/info`, for want of the index file. */
  readonly isInfoItsOwn?: boolean;
  /** Absolute path of the pack's folder; undefined: nobody knows. */
  readonly packDir: string | undefined;
  /** Is told each tool and check of the conformance pack that is about to be called. */
  readonly onNeed?: (id: string) => void;
}

export interface Hold {
  readonly path: string;
  /** Lets the tool that waits for it go on. */
  release(): void;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A service's process: what it says on stderr, and how it ends. */
export interface ServiceProcess {
  /** Every complete line of stderr so far. */
  lines(): readonly string[];
  /** The first line, past or future, that `isIt` accepts; fails the clause after `withinMs` (default 15 s) or at the exit. */
  line(isIt: (line: StderrLine) => boolean, withinMs?: number): Promise<StderrLine>;
  /** Resolves when exactly this line has been printed, on stdout or stderr; fails the clause like `line`. */
  printed(text: string, withinMs?: number): Promise<void>;
  signal(name: 'SIGTERM' | 'SIGINT'): void;
  /** Resolves when it has ended and its output has been read to the end. */
  readonly exit: Promise<ProcessExit>;
  /** Ends it, gently first; resolves when it is gone. */
  stop(): Promise<void>;
}

export interface RunningService extends Service {
  readonly packDir: string;
  readonly process: ServiceProcess;
  /** A file that is not there yet, for the pack's tool that waits for one. */
  hold(): Hold;
}

/** An index file's content, only as far as clauses change it. */
export interface PackIndex {
  readonly [key: string]: unknown;
  readonly tools: readonly IndexEntry[];
  readonly guardrails: readonly IndexEntry[];
}
export type IndexEntry = Readonly<Record<string, unknown>> & { readonly id: string };

export interface StartOptions {
  /** The tenant to pin it to; null: no pin; default: the target's own tenant. */
  readonly tenantId?: string | null;
  /** Added to the environment; null takes a name out of it. */
  readonly env?: Readonly<Record<string, string | null>>;
  /** The index file it is given instead: changed content, or its text. */
  readonly index?: (index: PackIndex) => PackIndex | string;
  /** The arguments it is given instead of the usual ones. */
  readonly args?: (usual: readonly string[], indexPath: string) => readonly string[];
}

/** A pack service program with the conformance pack: something that processes can be started of. */
export interface Target {
  readonly name: string;
  /** Modules of the pack that its index does not name, as `modulePath`s; undefined: it has none such. */
  readonly traits: {
    readonly importFails: string | undefined;
    readonly noHandler: string | undefined;
    /** Ends the process with code 7 while it is loaded. */
    readonly exits: string | undefined;
    /** Prints `slow: loading` on stderr and is not loaded for a minute. */
    readonly slow: string | undefined;
  };
  /** One running service, pinned to the target's tenant, that all clauses share. */
  shared(): Promise<RunningService>;
  /** Starts a process and does not wait for it to listen. */
  start(options?: StartOptions): Promise<ServiceProcess>;
  /** Starts a process and waits until it listens; fails the clause when it does not. */
  open(options?: StartOptions): Promise<RunningService>;
}
