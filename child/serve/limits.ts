import type { Outcome } from './message.ts';

/** What may end a call before its handler does. */
export interface CallLimits {
  readonly timeoutMs: number;
  /** Subscribes to the caller's going away; returns the unsubscription. */
  readonly onGone: (listener: () => void) => () => void;
}

export interface CallHooks {
  readonly work: (signal: AbortSignal) => Promise<Outcome>;
  readonly onDeadline: () => Outcome;
  readonly onCancelled: () => Outcome;
  /** The work came to an end although its call had ended long ago. */
  readonly onLate: () => void;
}

/**
 * Runs the work of a call until it ends, its deadline passes (A37) or its caller goes away (A39); whichever is first
 * decides, and the handler's signal fires with that reason (D31). Never rejects unless the work does before that.
 */
export function runLimited({ timeoutMs, onGone }: CallLimits, hooks: CallHooks): Promise<Outcome> {
  const controller = new AbortController();
  return new Promise((resolve, reject) => {
    let hasEnded = false;
    const end = (outcome: Outcome, reason?: 'deadline-exceeded' | 'cancelled'): void => {
      hasEnded = true;
      clearTimeout(timer);
      unsubscribe();
      resolve(outcome);
      if (reason !== undefined) controller.abort(reason);
    };
    const timer = setTimeout(() => end(hooks.onDeadline(), 'deadline-exceeded'), timeoutMs);
    const unsubscribe = onGone(() => end(hooks.onCancelled(), 'cancelled'));
    hooks.work(controller.signal).then((outcome) => (hasEnded ? hooks.onLate() : end(outcome)), reject);
  });
}
