import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from '../../shared/http/refusal.ts';
import { HEADER } from '../../shared/protocol/headers.ts';
import { tenantKey } from '../../shared/protocol/tenantId.ts';
import type { Lane } from '../lane/lane.ts';
import type { Grant } from './auth.ts';

/** A deployment as the front finds it. */
export interface Entry {
  readonly tenantId: string;
  readonly name: string;
  readonly isDefault: boolean;
  readonly hosts: readonly string[];
  /** Kindgi's service name of the deployment, where it has one (G2). */
  readonly serviceName?: string;
  readonly lane: Lane;
}

/** `kp-` and 20 characters of base32 (G2). */
const SERVICE_NAME_LENGTH = 23;

/**
 * Which deployment a call is for. The request's Host comes first, then the deployment that the token is bound to, then
 * the tenant's default; whichever it is, it must belong to the tenant of the header (B1) and be open to the token.
 */
export class Directory {
  readonly #tenants = new Map<string, Map<string, Entry>>();
  readonly #defaults = new Map<string, Entry>();
  readonly #hosts = new Map<string, Entry>();
  readonly #serviceNames = new Map<string, Entry>();

  constructor(entries: readonly Entry[]) {
    for (const entry of entries) this.#add(entry);
  }

  /** @throws {Refusal} `pack-tenant-mismatch` for every reason alike, so that nobody learns who is hosted here (B8). */
  find(headers: IncomingHttpHeaders, grant: Grant): Lane {
    const tenantId = headers[HEADER.tenantId];
    // Sent twice, the values arrive joined with ", ", which no id contains (B3).
    if (typeof tenantId !== 'string') throw mismatch();
    const key = tenantKey(tenantId);
    const names = this.#tenants.get(key);
    if (names === undefined || !grant.opens(key)) throw mismatch();
    const bound = grant.deployment;
    const entry = this.#byHost(headers.host) ?? (bound === undefined ? this.#defaults.get(key) : names.get(bound));
    if (entry === undefined || tenantKey(entry.tenantId) !== key) throw mismatch();
    if (bound !== undefined && entry.name !== bound) throw mismatch();
    return entry.lane;
  }

  #byHost(header: string | undefined): Entry | undefined {
    if (header === undefined || (this.#hosts.size === 0 && this.#serviceNames.size === 0)) return undefined;
    const host = header.replace(/:\d*$/, '').toLowerCase();
    const named = this.#hosts.get(host);
    if (named !== undefined) return named;
    const next = host[SERVICE_NAME_LENGTH];
    return next === '-' || next === '.' ? this.#serviceNames.get(host.slice(0, SERVICE_NAME_LENGTH)) : undefined;
  }

  #add(entry: Entry): void {
    const key = tenantKey(entry.tenantId);
    const names = this.#tenants.get(key) ?? new Map<string, Entry>();
    this.#tenants.set(key, names.set(entry.name, entry));
    if (entry.isDefault) this.#defaults.set(key, entry);
    for (const host of entry.hosts) this.#hosts.set(host, entry);
    if (entry.serviceName !== undefined) this.#serviceNames.set(entry.serviceName, entry);
  }
}

function mismatch(): Refusal {
  return new Refusal('pack-tenant-mismatch');
}
