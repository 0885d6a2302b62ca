import { createHash } from 'node:crypto';
import type { FakePackService } from './fakePackService.ts';

/** A tenant's entry in a configuration: `pack` or `packs`, and any setting of a deployment. */
export type TenantSettings = Readonly<Record<string, unknown>>;

/** What a tenant is given as: a folder with a pack, a program that keeps the process contract, or a fake. */
export type Tenant =
  | FakePackService
  | ({ readonly pack: string } & TenantSettings)
  | ({ readonly packs: Readonly<Record<string, { readonly path: string } & TenantSettings>> } & TenantSettings)
  /** `path` (the folder; default: the gateway's) needs an index: `index.json`, `dist/index.json` or `index`. */
  | ({ readonly command: readonly string[]; readonly path?: string } & TenantSettings);

/** A token besides the one that opens everything. */
export interface TokenSettings {
  /** 16 to 512 printable ASCII characters without blanks. */
  readonly token: string;
  /** Ids of the tenants it opens. Default: all. */
  readonly tenants?: readonly string[];
  /** The only deployment it opens, and to which it leads. */
  readonly deployment?: string;
}

/** A fault on order, as under `faults:` of a configuration; of several that fit, the first counts. */
export interface FaultSettings {
  /** Default: all tenants. */
  readonly tenant?: string;
  /** A tool or check. Default: all. */
  readonly tool?: string;
  /** At most one of these three; counted from 1 for each tenant and tool apart. Default: every call. */
  readonly nth?: number;
  readonly every?: number;
  readonly probability?: number;
  /** Of `probability`. Default: 1. */
  readonly seed?: number;
  readonly fault:
    '421' | '503' | '503-without-retry-after' | '500' | 'late' | 'half-answer' | 'cut' | 'never-ready' | 'forged-line';
  /** Of `late`: how much later the answer comes, in milliseconds. */
  readonly ms?: number;
}

/** How a token stands in a configuration. */
export function writtenToken({ token, ...opens }: TokenSettings): Readonly<Record<string, unknown>> {
  return { sha256: createHash('sha256').update(token).digest('hex'), ...opens };
}

/** How a tenant that is no fake stands in a configuration. */
export function writtenTenant(tenant: Exclude<Tenant, FakePackService>): TenantSettings {
  if ('pack' in tenant || 'packs' in tenant || !('command' in tenant)) return tenant;
  return { path: '.', runtime: 'command', ...tenant };
}
