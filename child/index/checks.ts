import { BUILT_IN_CHECKS } from '../../shared/protocol/indexSchema.ts';
import { isBag, unwrap } from '../modules/exports.ts';
import type { Bag } from '../modules/exports.ts';

/**
 * Ids of the checks whose code a guardrail's module brings along: the guardrail's own `check`, and whatever else the
 * module exports that has an `id` and an `evaluate`. Each once, in that order.
 */
export function shippedChecks(guardrail: Bag, exports: Bag): string[] {
  const candidates = [guardrail.check, ...Object.values(exports)].map(unwrap);
  const ids = candidates.map((candidate) =>
    isBag(candidate) && typeof candidate.evaluate === 'function' ? candidate.id : undefined,
  );
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}

/** Those under the id of a built-in, which the runtime would run instead (E8). */
export function reservedChecks(ids: readonly string[]): string[] {
  return ids.filter((id) => BUILT_IN_CHECKS.has(id));
}
