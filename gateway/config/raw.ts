import type { EnvCheck } from '../../shared/process/contract.ts';
import type { DeploymentSettings, RuntimeSettings } from './configuration.ts';

/**
 * A configuration that has the shape of the schema; what had not has been reported and left out, so everything is
 * optional here, and list items may be missing. Objects have no prototype: any key is safe to look up.
 */
export interface RawConfiguration {
  readonly listen?: string;
  readonly stateDir?: string;
  readonly tokens?: RawList<RawToken>;
  readonly bodies?: string;
  readonly memory?: string;
  readonly boots?: number;
  readonly admin?: RawAdmin;
  readonly defaults?: RawSettings;
  readonly tenants?: Readonly<Record<string, RawTenant>>;
  readonly tenantsDir?: string;
  readonly faults?: RawList<RawFault>;
}

export interface RawAdmin {
  readonly listen?: string;
  readonly token?: RawTokenSource;
}

export interface RawFault {
  readonly tenant?: string;
  readonly tool?: string;
  readonly nth?: number;
  readonly every?: number;
  readonly probability?: number;
  readonly seed?: number;
  readonly fault?: string | number;
  readonly ms?: number;
}

export type RawList<T> = readonly (T | undefined)[];

/** Where a token comes from: one of these. */
export interface RawTokenSource {
  readonly env?: string;
  readonly file?: string;
  readonly sha256?: string;
}

export interface RawToken extends RawTokenSource {
  readonly tenants?: RawList<string>;
  readonly deployment?: string;
}

export interface RawSettings {
  readonly path?: string;
  readonly index?: string;
  readonly indexHash?: string;
  readonly runtime?: RuntimeSettings['kind'];
  readonly node?: string;
  readonly python?: string;
  readonly command?: RawList<string>;
  readonly env?: Readonly<Record<string, RawEnvValue>>;
  readonly envFiles?: RawList<string>;
  readonly envCheck?: EnvCheck;
  readonly bootTimeout?: string;
  readonly drain?: string;
  readonly concurrency?: number;
  readonly queue?: { readonly size?: number; readonly wait?: string };
  readonly restart?: { readonly min?: string; readonly max?: string; readonly healthy?: string };
  readonly idle?: string;
  readonly start?: DeploymentSettings['start'];
  readonly recycle?: { readonly age?: string; readonly calls?: number; readonly memory?: string };
}

export type RawEnvValue = string | { readonly env: string } | { readonly file: string };

export interface RawPack extends RawSettings {
  readonly hosts?: RawList<string>;
  readonly deploymentId?: string;
  readonly default?: boolean;
}

export interface RawTenant extends RawPack {
  readonly pack?: string;
  readonly packs?: Readonly<Record<string, RawPack>>;
}

/** The items of a list that are there, each with its index. */
export function present<T>(list: RawList<T> | undefined): [index: number, item: T][] {
  const items: [number, T][] = [];
  for (const [index, item] of (list ?? []).entries()) if (item !== undefined) items.push([index, item]);
  return items;
}
