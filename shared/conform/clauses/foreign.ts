import type { Service } from '../service.ts';

/** A tenant that is not the service's: another UUID for a UUID, since the real services know no other ids. */
export function foreignTenant(service: Service): string {
  const other = 'c0ffee00-1111-4222-8333-444455556666';
  return service.tenantId === other ? 'c0ffee00-9999-4222-8333-444455556666' : other;
}
