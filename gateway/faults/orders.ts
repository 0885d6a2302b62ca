import { createHash } from 'node:crypto';
import { tenantKey } from '../../shared/protocol/tenantId.ts';
import { CALL_FAULTS } from '../config/faultRule.ts';
import type { CallFault, FaultKind, FaultRule, StartFault } from '../config/faultRule.ts';

/** A call, or a start, that met a fault. */
interface Met {
  readonly tenant: string;
  /** The tool's or check's id; null for the start of a process. */
  readonly tool: string | null;
  /** Which one of this tenant and tool it was, from 1. */
  readonly n: number;
  readonly fault: FaultKind;
}

/** A fault that a call is to meet. */
export interface OrderedFault {
  readonly kind: CallFault;
  /** Of `late`: milliseconds; else 0. */
  readonly ms: number;
}

/**
 * Decides which call meets which fault, and keeps book.
 *
 * What decides is which call of its tenant and tool it is and a hash, never time, nor a stream of random numbers that all
 * share: whatever the order in which calls of several tenants arrive, the same ones fail.
 */
export class FaultOrders {
  readonly #callRules: readonly FaultRule[];
  readonly #startRules: readonly FaultRule[];
  readonly #counts = new Map<string, number>();
  readonly #met: Met[] = [];

  constructor(rules: readonly FaultRule[]) {
    const isOfCalls = ({ fault }: FaultRule): boolean => (CALL_FAULTS as readonly string[]).includes(fault);
    this.#callRules = rules.filter(isOfCalls);
    this.#startRules = rules.filter((rule) => !isOfCalls(rule));
  }

  /** Counts a call of a tool or a check, and says what it is to meet. What names neither is no call of a tool. */
  ofCall(tenantId: string, tool: string | undefined): OrderedFault | undefined {
    if (tool === undefined) return undefined;
    const rule = this.#next(this.#callRules, tenantId, tool);
    return rule && { kind: rule.fault as CallFault, ms: rule.ms };
  }

  /** Counts a start of one of the tenant's processes, and says what it is to meet. */
  ofStart(tenantId: string): StartFault | undefined {
    return this.#next(this.#startRules, tenantId, null)?.fault as StartFault | undefined;
  }

  /**
   * What was to meet a fault so far: one JSON line each, by tenant, tool and number. No times: the same seed, the same
   * text, also where something went wrong by itself and was faster.
   */
  trace(): string {
    const lines = this.#met.toSorted(
      (a, b) => compare(a.tenant, b.tenant) || compare(a.tool ?? '', b.tool ?? '') || a.n - b.n,
    );
    return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  }

  #next(rules: readonly FaultRule[], tenantId: string, tool: string | null): FaultRule | undefined {
    const tenant = tenantKey(tenantId);
    const key = JSON.stringify([tenant, tool]);
    const n = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, n);
    const rule = rules.find(
      (one) =>
        (one.tenant === undefined || one.tenant === tenant) &&
        (one.tool === undefined || one.tool === tool) &&
        picks(one, tenant, tool, n),
    );
    if (rule !== undefined) this.#met.push({ tenant: tenantId, tool, n, fault: rule.fault });
    return rule;
  }
}

function picks({ pick, fault }: FaultRule, tenant: string, tool: string | null, n: number): boolean {
  switch (pick.kind) {
    case 'all':
      return true;
    case 'nth':
      return n === pick.n;
    case 'every':
      return n % pick.n === 0;
    case 'probability':
      // With the fault in it: two rules with one seed would otherwise pick the same calls, and the second none.
      return fraction(JSON.stringify([pick.seed, fault, tenant, tool, n])) < pick.p;
  }
}

/** From 0 up to, but not including, 1. */
function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
