import type { RuntimeSettings } from '../config/configuration.ts';
import { command } from './command.ts';
import { node } from './node.ts';
import { python } from './python.ts';
import type { Runtime, RuntimeKind } from './runtime.ts';

export type { HostEnv } from './environment.ts';

/** All runtimes by kind. To add one: a file, a line here, and its settings in `configuration.ts`. */
const RUNTIMES: { readonly [K in RuntimeKind]: Runtime<K> } = { node, python, command };

/** The runtime that deployments with these settings run on. */
export function runtimeOf(runtime: RuntimeSettings): Runtime {
  // The kind that chose the runtime is also that of the settings it will be given.
  return RUNTIMES[runtime.kind] as Runtime;
}
