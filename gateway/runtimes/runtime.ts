import type { DeploymentSettings, RuntimeSettings } from '../config/configuration.ts';
import type { HostEnv } from './environment.ts';
import type { LaunchSpec } from './launchSpec.ts';

export type RuntimeKind = RuntimeSettings['kind'];

/** Settings of a deployment that runs on a runtime of this kind. */
export type SettingsFor<K extends RuntimeKind> = DeploymentSettings & {
  readonly runtime: Extract<RuntimeSettings, { readonly kind: K }>;
};

/** What one process is started with, beyond the deployment's settings. */
export interface LaunchContext {
  /** The fresh token of this process (C7). */
  readonly token: string;
  /** The index that is served. */
  readonly indexPath: string;
  /** Our Node pack service and indexer, a JavaScript file. */
  readonly childProgram: string;
  readonly hostEnv: HostEnv;
  /** Where our Node pack service and indexer may keep what they build. */
  readonly buildDir: string;
}

export interface IndexContext extends Omit<LaunchContext, 'token' | 'indexPath'> {
  /** Where the index is written. */
  readonly outputPath: string;
}

/** One way to run pack services: turns settings into what is to be started, and starts nothing itself. */
export interface Runtime<K extends RuntimeKind = RuntimeKind> {
  /** How much longer than `drain` its services may take from SIGTERM to their exit, in milliseconds (C34). */
  readonly drainMarginMs: number;
  /** Whether calls may share a kept connection; if not, each gets its own. */
  readonly keepsConnections: boolean;
  launch(settings: SettingsFor<K>, context: LaunchContext): LaunchSpec;
  /** What builds the index; undefined where nothing can, so that one must be configured. */
  index(settings: SettingsFor<K>, context: IndexContext): LaunchSpec | undefined;
}
