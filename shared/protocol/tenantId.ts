/**
 * A tenant's id: 1–128 printable ASCII characters without blanks (B10). `key` is what ids are compared and looked up
 * by: UUID-shaped ids ignore letter case (B2), all others are exact.
 */
export interface TenantId {
  readonly id: string;
  readonly key: string;
}

/** The operator's "no tenant" id: a service pinned to it would never match a call (B10). */
export const NO_TENANT_ID = '00000000-0000-4000-8000-000000000000';

const PRINTABLE = /^[\x21-\x7e]{1,128}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The id in `text`, or undefined when it is none. Nothing is trimmed: HTTP has already done that for headers. */
export function parseTenantId(text: string | undefined): TenantId | undefined {
  if (text === undefined || !PRINTABLE.test(text)) return undefined;
  return { id: text, key: tenantKey(text) };
}

/** What two spellings of one tenant have in common. */
export function tenantKey(id: string): string {
  return UUID.test(id) ? id.toLowerCase() : id;
}
