import type { EnvCheck } from '../../shared/process/contract.ts';
import type { FaultRule } from './faultRule.ts';

/** A configuration that has been read and found good: everything resolved, every path absolute. Frozen. */
export interface Configuration {
  /** Where it came from: absolute path, for messages. */
  readonly file: string;
  readonly listen: ListenAddress;
  readonly stateDir: string;
  readonly tokens: readonly TokenGrant[];
  /**
   * Request bodies held in memory at once, in bytes; one tenant holds at most a quarter of it. Beside it every tenant that
   * sends has 64 KiB of its own.
   */
  readonly bodiesBytes: number;
  readonly admin: AdminSettings;
  /** Proportional memory (PSS) that all instances together may take, in bytes; `Infinity` without a budget. */
  readonly memoryBytes: number;
  /** Instances that may be starting at once. */
  readonly boots: number;
  /** Every file and folder that it was read from and that changes it: absolute paths, the configuration first. */
  readonly sources: readonly string[];
  readonly deployments: readonly DeploymentSettings[];
  /** Faults on order; absent where there are none. */
  readonly faults?: readonly FaultRule[];
}

export type ListenAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string }
  /** A listening socket handed over by a service manager. */
  | { readonly kind: 'fd'; readonly fd: number };

/** Where operators reach the gateway; never on the public listener. */
export interface AdminSettings {
  readonly listen: ListenAddress;
  /** Lower-case hex of SHA-256 over its token; undefined on a unix socket, which its mode (0600) guards. */
  readonly tokenSha256?: string;
}

/** A caller's token, known only by its SHA-256, and what it opens. */
export interface TokenGrant {
  /** Lower-case hex of SHA-256 over the token's bytes. */
  readonly sha256: string;
  /** Keys (`TenantId.key`) of the tenants it opens; `any` opens all. */
  readonly tenants: 'any' | readonly string[];
  /** Name of the only deployment it opens, and to which it routes. */
  readonly deployment?: string;
}

/** One tenant's pack, hosted here, with all defaults filled in. */
export interface DeploymentSettings {
  /** The tenant's id as configured; compared by `tenantKey`. */
  readonly tenantId: string;
  /** Unique within its tenant; `default` in the short form (`pack:`). */
  readonly name: string;
  readonly isDefault: boolean;
  /** Lower-case host names without port that route to it. */
  readonly hosts: readonly string[];
  /** Kindgi's own id of the deployment, from which its service name follows (G2). */
  readonly deploymentId?: string;
  /** The pack's folder: module root and working folder. */
  readonly path: string;
  /** The index file that is served, or undefined: built into `stateDir` at start. */
  readonly index?: string;
  /** `sha256:HEX`: the only index that may be served. */
  readonly indexHash?: string;
  readonly runtime: RuntimeSettings;
  /** The pack's own environment, resolved; never logged. */
  readonly env: Readonly<Record<string, string>>;
  readonly envCheck: EnvCheck;
  readonly bootTimeoutMs: number;
  /** From SIGTERM to SIGKILL, without the runtime's margin. */
  readonly drainMs: number;
  /** Calls in flight per instance. */
  readonly concurrency: number;
  readonly queue: { readonly size: number; readonly waitMs: number };
  readonly restart: { readonly minMs: number; readonly maxMs: number; readonly healthyMs: number };
  /** Stop after that long without a call; `Infinity` for never. */
  readonly idleMs: number;
  /** `eager` keeps one instance up, calls or not. */
  readonly start: 'lazy' | 'eager';
  /** An instance that has reached one of these is replaced; `Infinity` for never. */
  readonly recycle: { readonly ageMs: number; readonly calls: number; readonly memoryBytes: number };
}

export type RuntimeSettings =
  /** Our own Node pack service, run by `node` (an executable). */
  | { readonly kind: 'node'; readonly node: string }
  /** `python -m kindgi.pack`, run by `python` (an executable). */
  | { readonly kind: 'python'; readonly python: string }
  /** Any argv that keeps the process contract. */
  | { readonly kind: 'command'; readonly command: readonly string[] };
