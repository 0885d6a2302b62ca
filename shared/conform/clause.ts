import type { Service, Target } from './service.ts';

interface ClauseFacts {
  /** Its clause of protocol.md and a word, unique: `A24/chunked`. */
  readonly id: `${'A' | 'B' | 'C' | 'D'}${number}${'a' | ''}/${string}`;
  /** Other clauses it shows as well. */
  readonly also?: readonly string[];
  /** What holds, as a sentence. */
  readonly title: string;
}

/** A clause that is seen from any caller's place: it holds for a service and for a gateway in front of one. */
export interface HttpClause extends ClauseFacts {
  readonly scope: 'http';
  /** Rejects with an `AssertionError` when the clause does not hold. */
  run(service: Service): Promise<void>;
}

/** A clause about a process: its environment, its stderr, its end. */
export interface ProcessClause extends ClauseFacts {
  readonly scope: 'process';
  /** As above. Ends every process it started. */
  run(target: Target): Promise<void>;
}

export type Clause = HttpClause | ProcessClause;

/** A clause for any caller's place. */
export function httpClause(
  id: ClauseFacts['id'],
  title: string,
  run: HttpClause['run'],
  also: readonly string[] = [],
): HttpClause {
  return { scope: 'http', id, also, title, run };
}

/** A clause about a process. */
export function processClause(
  id: ClauseFacts['id'],
  title: string,
  run: ProcessClause['run'],
  also: readonly string[] = [],
): ProcessClause {
  return { scope: 'process', id, also, title, run };
}
