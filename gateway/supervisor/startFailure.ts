/** The steps of a start, in order; a failure names the one at which it stopped. */
export type StartStep = 'index' | 'launch' | 'listen' | 'ready' | 'proof';

export type StartFailureCode =
  /** The indexer found a problem, or the index cannot be read. */
  | 'index-failed'
  /** The program could not be started at all. */
  | 'spawn-failed'
  /** The process ended before it was ready, whatever its exit code (C15). */
  | 'exited'
  /** The service said that its configuration is wrong (C4). */
  | 'config-invalid'
  /** The service said what keeps it from booting (C12). */
  | 'boot-failed'
  /** Required environment is missing (C17); only a changed configuration helps. */
  | 'missing-env'
  | 'timeout'
  /** What listens is not the service that was started, or not the pack that was asked for (C25). */
  | 'proof-failed'
  /** The budget for memory is used up, and nothing is idle that could make room. */
  | 'no-memory'
  /** Ended by us while it was starting. */
  | 'cancelled';

/** Why an instance never became ready: for the log and the operator, never for a caller. */
export class StartFailure extends Error {
  readonly step: StartStep;
  readonly code: StartFailureCode;
  /** The service's or the indexer's own texts, one per problem. */
  readonly problems: readonly string[];

  constructor(step: StartStep, code: StartFailureCode, message: string, problems: readonly string[] = []) {
    super(message);
    this.name = 'StartFailure';
    this.step = step;
    this.code = code;
    this.problems = problems;
  }
}
