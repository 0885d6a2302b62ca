import type { Paint } from '../paint.ts';
import { printable } from '../printable.ts';
import { table } from '../table.ts';
import type { Judged } from './judge.ts';
import { summaryOf } from './verdicts.ts';
import type { Verdicts } from './verdicts.ts';

/** What people read: findings first, each with what was expected and what came, the summary last. */
export function tableReport(verdicts: Verdicts, paint: Paint): string {
  const { judged, service, findings, skipped } = verdicts;
  const summary = summaryOf(verdicts);
  const rows = judged.map(({ clause, outcome }) => [
    clause.id,
    outcome.verdict === 'deviates' ? 'FINDING' : outcome.verdict === 'skipped' ? 'not looked at' : 'holds',
    clause.title,
  ]);
  const lines = table(['clause', 'verdict', 'what'], rows, (cell, column, row) => {
    if (column !== 1) return cell;
    return row[1] === 'FINDING' ? paint.bad(cell) : row[1] === 'holds' ? paint.good(cell) : paint.faint(cell);
  });
  const [head = '', ...body] = lines;
  const told = body.flatMap((line, at) => [line, ...detailsOf(judged[at], paint)]);
  const verdict = findings > 0 ? paint.bad(summary) : skipped > 0 ? paint.busy(summary) : paint.good(summary);
  return `${[service, '', paint.bold(head), ...told, '', verdict].join('\n')}\n`;
}

function detailsOf(judged: Judged | undefined, paint: Paint): string[] {
  if (judged === undefined) return [];
  const { outcome } = judged;
  if (outcome.verdict === 'holds') return [];
  if (outcome.verdict === 'skipped') return [`    ${paint.faint('because')}   ${printable(outcome.reason)}`];
  return [
    `    ${paint.faint('expected')}  ${printable(outcome.expected)}`,
    `    ${paint.faint('came')}      ${printable(outcome.came)}`,
  ];
}
