import { jsonText } from '../printable.ts';
import type { Verdicts } from './verdicts.ts';

/** The same as data. */
export function jsonReport({ service, judged, findings, skipped, holding, ms }: Verdicts): string {
  return jsonText({
    service,
    summary: { checks: judged.length, holding, findings, skipped, ms },
    checks: judged.map(({ clause: { id, also = [], title, scope }, outcome, needs, ms: tookMs }) => ({
      clause: id,
      also,
      what: title,
      scope,
      verdict: outcome.verdict === 'deviates' ? 'finding' : outcome.verdict === 'skipped' ? 'not-looked-at' : 'holds',
      ...(outcome.verdict === 'deviates' && { expected: outcome.expected, came: outcome.came }),
      ...(outcome.verdict === 'skipped' && { reason: outcome.reason }),
      needs,
      ms: tookMs,
    })),
  });
}
