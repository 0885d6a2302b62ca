import { PAUSE } from '../../shared/protocol/markers.ts';

/** How long a call waits for another system, and what people read about it. */
export interface PauseOptions {
  /** Whole milliseconds, from 1 to 2,073,600,000 (24 days). Default: the runtime's 24 hours. */
  readonly timeoutMs?: number;
  /** What the run waits for, in a few words: shown wherever open waits are listed. */
  readonly name?: string;
}

/** What a handler returns instead of its output; the output comes later, by a POST to the wait token's url. */
export interface Pause {
  readonly [PAUSE]: PauseOptions;
}

/** The same as `ctx.pause`, for code that has no context at hand. The service checks it when the handler returns it. */
export function pause(options: PauseOptions = {}): Pause {
  return { [PAUSE]: options };
}
