import { NotLookedAt } from '../notLookedAt.ts';
import type { Service } from '../service.ts';

/**
 * The tenant of a service.
 * @throws {NotLookedAt} when it is pinned to none, or to one that nobody told.
 */
export function ownTenant({ tenantId }: Service): string {
  if (tenantId === undefined) throw new NotLookedAt('it is not known which tenant the service is pinned to');
  return tenantId;
}

/** A tenant that is not the service's: another UUID for a UUID, since the real services know no other ids. */
export function foreignTenant(service: Service): string {
  const other = 'c0ffee00-1111-4222-8333-444455556666';
  return ownTenant(service) === other ? 'c0ffee00-9999-4222-8333-444455556666' : other;
}
