import { isDeepStrictEqual } from 'node:util';
import { tenantKey } from '../../shared/protocol/tenantId.ts';
import type { Configuration, DeploymentSettings } from './configuration.ts';

/** What leads from one configuration to another. Deployments are the same by tenant and name. */
export interface Changes {
  readonly added: readonly DeploymentSettings[];
  readonly removed: readonly DeploymentSettings[];
  /** With their new settings. `isReplace`: its process must be another one; else the change takes effect in place. */
  readonly changed: readonly { readonly settings: DeploymentSettings; readonly isReplace: boolean }[];
  /** Keys of the configuration that changed and take effect only at the gateway's next start. */
  readonly needsRestart: readonly string[];
}

/** Of every setting, whether a process that was started with another value must be replaced. */
const IS_REPLACE: { readonly [K in keyof Required<DeploymentSettings>]: boolean } = {
  // The service is pinned to the very spelling (B2).
  tenantId: true,
  name: false,
  isDefault: false,
  hosts: false,
  deploymentId: false,
  path: true,
  index: true,
  indexHash: true,
  runtime: true,
  env: true,
  envCheck: true,
  bootTimeoutMs: false,
  drainMs: false,
  // The service's own limit follows from it.
  concurrency: true,
  queue: false,
  restart: false,
  idleMs: false,
  start: false,
  recycle: false,
};

/** What is opened or measured out at the start and stays as it is: as written in the file, and as it is read. */
const AT_START = [
  ['listen', 'listen'],
  ['stateDir', 'stateDir'],
  ['admin', 'admin'],
  ['bodies', 'bodiesBytes'],
  ['faults', 'faults'],
] as const satisfies readonly (readonly [string, keyof Configuration])[];

/** Pure. Tokens, the memory budget and the limit on boots apply at once and are no changes of deployments. */
export function changesBetween(before: Configuration, after: Configuration): Changes {
  const old = new Map(before.deployments.map((settings) => [keyOf(settings), settings]));
  const added: DeploymentSettings[] = [];
  const changed: { settings: DeploymentSettings; isReplace: boolean }[] = [];
  for (const settings of after.deployments) {
    const previous = old.get(keyOf(settings));
    old.delete(keyOf(settings));
    if (previous === undefined) added.push(settings);
    else if (!isDeepStrictEqual(previous, settings)) {
      changed.push({ settings, isReplace: mustReplace(previous, settings) });
    }
  }
  const needsRestart = AT_START.filter(([, key]) => !isDeepStrictEqual(before[key], after[key])).map(([name]) => name);
  return { added, removed: [...old.values()], changed, needsRestart };
}

/** A deployment's name to people. */
export function nameOf({ tenantId, name }: Pick<DeploymentSettings, 'tenantId' | 'name'>): string {
  return `${tenantId}/${name}`;
}

function mustReplace(before: DeploymentSettings, after: DeploymentSettings): boolean {
  return (Object.keys(IS_REPLACE) as (keyof DeploymentSettings)[]).some(
    (key) => IS_REPLACE[key] && !isDeepStrictEqual(before[key], after[key]),
  );
}

function keyOf({ tenantId, name }: DeploymentSettings): string {
  return JSON.stringify([tenantKey(tenantId), name]);
}
