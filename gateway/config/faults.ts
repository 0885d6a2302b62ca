import { tenantKey } from '../../shared/protocol/tenantId.ts';
import { START_FAULTS } from './faultRule.ts';
import type { FaultKind, FaultPick, FaultRule } from './faultRule.ts';
import type { Path } from './problem.ts';
import { present } from './raw.ts';
import type { RawConfiguration, RawFault } from './raw.ts';
import type { Surroundings } from './surroundings.ts';

const DEFAULT_SEED = 1;
const PICKS = ['nth', 'every', 'probability'] as const;

/** The rules as they are written, checked. Where faults are not allowed, having any is the only problem there is. */
export function readFaults(
  { faults, tenants, tenantsDir }: RawConfiguration,
  areAllowed: boolean,
  { report }: Surroundings,
): readonly FaultRule[] {
  if (faults === undefined) return [];
  if (!areAllowed) {
    report.problem(['faults'], {
      expected: 'no faults in a process that was started without --allow-faults',
      got: faults.length === 1 ? '1 fault' : `${faults.length} faults`,
      todo: 'Remove them where real callers are served',
      at: 'key',
    });
    return [];
  }
  const known = new Set(Object.keys(tenants ?? {}).map(tenantKey));
  return present(faults).flatMap(([index, raw]) => {
    const path = ['faults', index];
    if (raw.tenant !== undefined && !known.has(tenantKey(raw.tenant)) && tenantsDir === undefined) {
      report.warn([...path, 'tenant'], `there is no tenant ${JSON.stringify(raw.tenant)}`);
    }
    const found = readRule(raw, path, { report });
    return found === undefined ? [] : [found];
  });
}

function readRule(raw: RawFault, path: Path, { report }: Pick<Surroundings, 'report'>): FaultRule | undefined {
  // What it lacks, or has of another kind, has been reported.
  if (raw.fault === undefined) return undefined;
  const fault = String(raw.fault) as FaultKind;
  const isStart = (START_FAULTS as readonly string[]).includes(fault);
  if (isStart && raw.tool !== undefined) {
    report.problem([...path, 'tool'], { expected: `no tool: ${fault} is a fault of a start`, got: 'one', at: 'key' });
  }
  if ((fault === 'late') !== (raw.ms !== undefined) && !report.isBad([...path, 'ms'])) {
    const [expected, got] = fault === 'late' ? ['how late, in milliseconds', 'nothing'] : [`no ms for ${fault}`, 'one'];
    report.problem([...path, 'ms'], { expected, got, at: 'key' });
  }
  const picks = PICKS.filter((name) => raw[name] !== undefined);
  if (picks.length > 1) {
    report.problem(path, { expected: 'at most one of nth, every and probability', got: picks.join(' and ') });
  }
  return {
    ...(raw.tenant !== undefined && { tenant: tenantKey(raw.tenant) }),
    ...(raw.tool !== undefined && { tool: raw.tool }),
    pick: pickOf(raw),
    fault,
    ms: raw.ms ?? 0,
  };
}

function pickOf({ nth, every, probability, seed = DEFAULT_SEED }: RawFault): FaultPick {
  if (nth !== undefined) return { kind: 'nth', n: nth };
  if (every !== undefined) return { kind: 'every', n: every };
  return probability === undefined ? { kind: 'all' } : { kind: 'probability', p: probability, seed };
}
