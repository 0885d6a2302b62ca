import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Gateway } from './gateway.ts';

/** Hears signals; `main.ts` gives the process's. */
export type OnSignal = (signal: NodeJS.Signals, listener: () => void) => void;

/**
 * A signal that follows the first one within this time is the same wish, told twice: a terminal signals the whole
 * process group, and a program such as npm in the same group passes on what it got.
 */
const ECHO_MS = 500;

/**
 * Drains at the first SIGTERM, SIGINT or SIGHUP (a closed terminal); a later second one cuts the wait short. Settles
 * when everything has ended.
 */
export async function drainOnSignal(gateway: Gateway, onSignal: OnSignal, clock: Clock, log: Logger): Promise<void> {
  let drainingSince: number | undefined;
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      onSignal(signal, () => {
        if (drainingSince === undefined) {
          drainingSince = clock.now();
          log.info({ event: 'draining', signal }, 'draining: calls under way may end');
          resolve();
        } else if (clock.now() - drainingSince > ECHO_MS) {
          log.warn({ event: 'hurrying', signal }, 'second signal: not waiting any longer');
          gateway.hurry();
        }
      });
    }
  });
  await gateway.close();
  log.info({ event: 'stopped' }, 'stopped');
}
