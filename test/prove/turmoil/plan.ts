import { createHash } from 'node:crypto';
import { seededRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';

/** What a call asks of the stub pack, and what its caller does meanwhile. */
export type CallKind =
  /** Answered at once. */
  | 'quick'
  /** Works for a while, `ms`. */
  | 'slow'
  /** Kills its process. */
  | 'deadly'
  /** Its caller resets the connection after `ms`. */
  | 'abandoned'
  /** A body of 200 KiB. */
  | 'large'
  /** The pack closes its listener, but lives. */
  | 'deafening'
  /** The pack resets every new connection from then on. */
  | 'resetting';

export interface PlannedCall {
  /** Place of its tenant. */
  readonly tenant: number;
  readonly kind: CallKind;
  readonly ms: number;
}

export type FaultKind =
  /** SIGKILL to the serving process. */
  | 'kill'
  /** SIGTERM to the serving process, by nobody who told the gateway. */
  | 'terminate'
  /** Orders of an operator. */
  | 'reload'
  | 'restart'
  | 'stop and start'
  /** The next starts fail. */
  | 'broken pack'
  /** Many calls at once, more than may wait. */
  | 'flood'
  /** SIGHUP with another configuration. */
  | 'reconfigure';

export interface PlannedFault {
  /** Before which call it happens. */
  readonly at: number;
  readonly kind: FaultKind;
  readonly tenant: number;
}

export interface Plan {
  readonly calls: readonly PlannedCall[];
  readonly faults: readonly PlannedFault[];
  /** Of everything in it and its order: the same seed gives the same. */
  readonly hash: string;
}

/** One fault every so many calls, on average. */
const CALLS_PER_FAULT = 150;

const FAULTS: readonly FaultKind[] = [
  'kill',
  'kill',
  'terminate',
  'terminate',
  'reload',
  'reload',
  'restart',
  'stop and start',
  'broken pack',
  'flood',
  'reconfigure',
];

export function planTurmoil(seed: number, calls: number, tenants: number): Plan {
  const random = seededRandom(seed);
  const planned = Array.from({ length: calls }, () => planCall(random, tenants));
  const faults = Array.from({ length: Math.ceil(calls / CALLS_PER_FAULT) }, () => ({
    at: random.between(0, calls - 1),
    kind: random.oneOf(FAULTS),
    tenant: random.between(0, tenants - 1),
  })).toSorted((a, b) => a.at - b.at);
  const hash = createHash('sha256')
    .update(JSON.stringify([planned, faults]))
    .digest('hex')
    .slice(0, 16);
  return { calls: planned, faults, hash };
}

function planCall(random: Random, tenants: number): PlannedCall {
  const tenant = random.between(0, tenants - 1);
  const lot = random.between(1, 10_000);
  if (lot <= 10) return { tenant, kind: 'deadly', ms: 0 };
  if (lot <= 14) return { tenant, kind: 'deafening', ms: 0 };
  if (lot <= 18) return { tenant, kind: 'resetting', ms: 0 };
  if (lot <= 150) return { tenant, kind: 'abandoned', ms: random.between(0, 60) };
  if (lot <= 250) return { tenant, kind: 'large', ms: 0 };
  if (lot <= 1_250) return { tenant, kind: 'slow', ms: random.between(1, 80) };
  return { tenant, kind: 'quick', ms: 0 };
}
