import type { DeploymentStatus, Order, OrderName } from '../supervisor/status.ts';

/** A deployment as the admin side sees it. */
export interface Operated {
  readonly tenantId: string;
  readonly name: string;
  status(): DeploymentStatus;
  order(name: OrderName): Order;
}

/** What became of reading the configuration again. */
export type Reread =
  /** Names as `tenant/deployment`; `needsRestart`: keys that changed and take effect only at the gateway's next start. */
  | {
      readonly ok: true;
      readonly added: readonly string[];
      readonly removed: readonly string[];
      readonly changed: readonly string[];
      readonly needsRestart: readonly string[];
    }
  /** Nothing was changed. One text a problem, with file, line and column. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** The gateway itself. */
export interface GatewayStatus {
  readonly version: string;
  readonly pid: number;
  readonly address: string;
  readonly startedAt: string;
  readonly state: 'running' | 'draining';
  /** Of the gateway's process: resident memory in bytes, open descriptors (where /proc tells), live handles by kind. */
  readonly memoryBytes: number;
  readonly descriptors: number | undefined;
  readonly handles: Readonly<Record<string, number>>;
  /** Memory that instances take together when last measured, and their budget (undefined: none). */
  readonly instancesMemoryBytes: number;
  readonly memoryBudgetBytes: number | undefined;
}

/** A call that somebody is about to make. */
export interface ComingCall {
  readonly tenantId: string;
  readonly toolId: string;
  /** Its deadline in milliseconds from now. */
  readonly timeoutMs: number;
}

/** What the admin side needs of the gateway. */
export interface AdminHost {
  /** In the configuration's order. */
  deployments(): readonly Operated[];
  /** The tenant's id is compared as everywhere: a UUID in any letter case. */
  find(tenantId: string, name: string): Operated | undefined;
  gateway(): GatewayStatus;
  /** Reads the configuration again, as SIGHUP does. */
  reread(): Promise<Reread>;
  /**
   * What stands in for a runtime during the call, as it is told to whoever makes it. Only a development loop has
   * something to offer. Undefined: it does not host that tenant.
   */
  readonly standInsFor?: (call: ComingCall) => Promise<object | undefined>;
}
