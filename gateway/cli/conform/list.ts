import type { Clause } from '../../../shared/conform/clause.ts';
import { jsonText } from '../printable.ts';
import { table } from '../table.ts';

/** The checks there are, one line each. */
export function clauseList(clauses: readonly Clause[], isJson: boolean): string {
  if (isJson) {
    return jsonText(clauses.map(({ id, also = [], title, scope }) => ({ clause: id, also, what: title, scope })));
  }
  const rows = clauses.map(({ id, also = [], title, scope }) => [
    id,
    also.join(' '),
    scope === 'http' ? 'http' : 'process',
    title,
  ]);
  return `${table(['clause', 'shows also', 'seen by', 'what'], rows).join('\n')}\n`;
}
