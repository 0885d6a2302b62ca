import type { Path } from './problem.ts';
import type { RawConfiguration, RawPack, RawTenant } from './raw.ts';

/** Name of the only deployment of a tenant in the short form. */
const SHORT_FORM_NAME = 'default';

/** One pack of a tenant as it is written; in the short form, `values` and `path` are the tenant's own. */
export interface WrittenPack {
  readonly tenantId: string;
  readonly name: string;
  readonly path: Path;
  readonly values: RawPack;
}

export function packsOf(tenantId: string, tenant: RawTenant): WrittenPack[] {
  const path = ['tenants', tenantId];
  if (tenant.packs === undefined) return [{ tenantId, name: SHORT_FORM_NAME, path, values: tenant }];
  return Object.entries(tenant.packs).map(([name, values]) => ({
    tenantId,
    name,
    path: [...path, 'packs', name],
    values,
  }));
}

export function allPacks({ tenants }: RawConfiguration): WrittenPack[] {
  return Object.entries(tenants ?? {}).flatMap(([id, tenant]) => packsOf(id, tenant));
}

/** Names of a tenant's deployments. */
export function namesOfPacks(tenant: RawTenant): string[] {
  return packsOf('', tenant).map(({ name }) => name);
}
