import type { Io } from '../command.ts';

/** What may end a run before it is done: a signal, or its time. */
export interface Interrupt {
  /** Its reason is a text. */
  readonly signal: AbortSignal;
  /** The run is over: its time is no matter any more. */
  clear(): void;
}

/** `limitMs`: the time for the whole run. */
export function interruptOf({ onSignal }: Pick<Io, 'onSignal'>, limitMs: number): Interrupt {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort('the time for all checks is over'), limitMs);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    onSignal(name, () => controller.abort(`interrupted by ${name}`));
  }
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
