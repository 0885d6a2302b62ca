import { jsonText, printable } from '../printable.ts';
import type { Judged } from './judge.ts';
import { summaryOf } from './verdicts.ts';
import type { Verdicts } from './verdicts.ts';

/** TAP 14: a test point for each clause, with a diagnostic block for a finding. */
export function tapReport(verdicts: Verdicts): string {
  const { judged, service } = verdicts;
  const points = judged.flatMap((one, at) => pointOf(one, at + 1));
  return `${['TAP version 14', `1..${judged.length}`, `# ${service}`, ...points, `# ${summaryOf(verdicts)}`].join('\n')}\n`;
}

function pointOf({ clause, outcome, ms }: Judged, number: number): string[] {
  // A bare # would begin a directive.
  const name = `${clause.id}: ${clause.title}`.replaceAll(/[\\#]/g, '\\$&');
  switch (outcome.verdict) {
    case 'holds':
      return [`ok ${number} - ${name}`];
    case 'skipped':
      return [`ok ${number} - ${name} # SKIP ${printable(outcome.reason)}`];
    case 'deviates':
      return [
        `not ok ${number} - ${name}`,
        '  ---',
        // A JSON text is a YAML one as well.
        `  expected: ${jsonText(outcome.expected).trimEnd()}`,
        `  came: ${jsonText(outcome.came).trimEnd()}`,
        `  duration_ms: ${ms}`,
        '  ...',
      ];
  }
}
