import { EXIT } from '../../../shared/process/contract.ts';

/** Exit codes of `packgate invoke`, by what became of the call. */
export const INVOKE_EXIT = {
  /** A result, or a check that passed. */
  ok: EXIT.ok,
  /** The pack answered an error, or a check did not pass. */
  failed: EXIT.failed,
  /** The tool waits for another system (D42). */
  paused: 3,
  /** Refused for what the call is: 401, 404, 413, 415, 421. It did not run, and sending it again is pointless. */
  refused: 4,
  /** 503: it did not run, and may be sent again. */
  notNow: 5,
  /** 500, an answer that was cut or is none, or none in time: it may have run. */
  mayHaveRun: 6,
  /** Nothing was sent. */
  unreachable: EXIT.unreachable,
  /** Ended by SIGINT or SIGTERM, as a shell counts it. */
  interrupted: 130,
  terminated: 143,
} as const;

/** The same for people. */
export const INVOKE_EXIT_TEXTS: readonly (readonly [code: number, meaning: string])[] = [
  [INVOKE_EXIT.ok, 'a result, or the check passed'],
  [INVOKE_EXIT.failed, 'the pack answered an error, or the check did not pass'],
  [EXIT.usage, 'wrong usage; nothing was sent'],
  [INVOKE_EXIT.paused, 'the tool paused'],
  [INVOKE_EXIT.refused, 'refused (401, 404, 413, 415, 421): it did not run'],
  [INVOKE_EXIT.notNow, 'not now (503): it did not run and may be sent again'],
  [INVOKE_EXIT.mayHaveRun, 'no usable answer (500, cut, late): it may have run'],
  [INVOKE_EXIT.unreachable, 'no gateway answers; nothing was sent'],
  [EXIT.badConfig, 'the configuration cannot be read'],
  [INVOKE_EXIT.interrupted, 'ended with Ctrl+C, which cancels the call (SIGTERM: 143)'],
];
