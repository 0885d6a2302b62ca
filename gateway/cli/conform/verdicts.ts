import type { Outcome } from '../../../shared/conform/outcome.ts';
import { printable } from '../printable.ts';
import type { Judged } from './judge.ts';

/** What a run was about, and what came of it. */
export interface Verdicts {
  /** The service: its command or its address. */
  readonly service: string;
  /** Findings first, then what was not looked at, then what holds; within each in the order of the protocol. */
  readonly judged: readonly Judged[];
  readonly findings: number;
  readonly skipped: number;
  readonly holding: number;
  readonly ms: number;
}

const ORDER: readonly Outcome['verdict'][] = ['deviates', 'skipped', 'holds'];

export function verdictsOf(service: string, judged: readonly Judged[], ms: number): Verdicts {
  const of = (verdict: Outcome['verdict']): Judged[] => judged.filter(({ outcome }) => outcome.verdict === verdict);
  return {
    service: printable(service),
    judged: ORDER.flatMap(of),
    findings: of('deviates').length,
    skipped: of('skipped').length,
    holding: of('holds').length,
    ms,
  };
}

/** `236 checks: 230 hold, 4 findings, 2 not looked at; 41.2 s`. */
export function summaryOf({ judged, findings, skipped, holding, ms }: Verdicts): string {
  const found = `${findings} ${findings === 1 ? 'finding' : 'findings'}`;
  const checks = `${judged.length} ${judged.length === 1 ? 'check' : 'checks'}`;
  return `${checks}: ${holding} hold, ${found}, ${skipped} not looked at; ${(ms / 1000).toFixed(1)} s`;
}
