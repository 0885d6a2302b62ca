import type { Clause } from '../../../shared/conform/clause.ts';
import { UsageError } from '../command.ts';

/** The number of a clause: `A24` of `A24/limit`. */
export function numberOf({ id }: Pick<Clause, 'id'>): string {
  return id.slice(0, id.indexOf('/'));
}

/**
 * The clauses that `only` names, all without it: groups (`A`), numbers (`B4`, also where a clause shows it besides its own)
 * and ids (`A24/limit`), with commas between them.
 * @throws {UsageError} for a name that is none.
 */
export function selectClauses(clauses: readonly Clause[], only: string | undefined): readonly Clause[] {
  if (only === undefined) return clauses;
  const names = only
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  for (const name of names) {
    if (clauses.some((clause) => isNamed(clause, name))) continue;
    throw new UsageError(`--only names "${name}", which is no clause`, '"packgate conform --list" shows them all.');
  }
  if (names.length === 0) throw new UsageError('--only names nothing', 'Write --only A,B12.');
  return clauses.filter((clause) => names.some((name) => isNamed(clause, name)));
}

function isNamed(clause: Clause, name: string): boolean {
  if (/^[A-Z]$/i.test(name)) return clause.id.startsWith(name.toUpperCase());
  return clause.id === name || numberOf(clause) === name || clause.also?.includes(name) === true;
}
