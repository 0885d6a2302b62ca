import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Gateway } from './gateway.ts';

/** What can end a gateway from outside and from within; `main.ts` gives the process's. */
export interface EndSources {
  readonly onSignal: (signal: NodeJS.Signals, listener: () => void) => void;
  readonly onUncaught: (listener: (error: unknown) => void) => void;
}

/**
 * A signal that follows the first one within this time is the same wish, told twice: a terminal signals the whole
 * process group, and a program such as npm in the same group passes on what it got.
 */
const ECHO_MS = 500;

/**
 * Drains at the first SIGTERM or SIGINT; a later second one cuts the wait short. SIGHUP means `reload` where there is one
 * (it is then ignored during the drain), and a closed terminal, which drains, where there is none. An error
 * that nothing caught drains, too: dying of it at once would cut every tenant's calls and leave their processes behind.
 * Settles with the reason when everything has ended.
 */
export async function drainWhenTold(
  gateway: Pick<Gateway, 'close' | 'hurry'>,
  { onSignal, onUncaught }: EndSources,
  clock: Clock,
  log: Logger,
  reload?: () => void,
): Promise<'signal' | 'uncaught'> {
  let drainingSince: number | undefined;
  const reason = await new Promise<'signal' | 'uncaught'>((resolve) => {
    onUncaught((error) => {
      log.fatal({ event: 'internal-error', err: error }, 'a bug of packgate: draining, then exit with 1');
      drainingSince ??= clock.now();
      resolve('uncaught');
    });
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      onSignal(signal, () => {
        if (signal === 'SIGHUP' && reload !== undefined) {
          if (drainingSince === undefined) reload();
        } else if (drainingSince === undefined) {
          drainingSince = clock.now();
          log.info({ event: 'draining', signal }, 'draining: calls under way may end');
          resolve('signal');
        } else if (clock.now() - drainingSince > ECHO_MS) {
          log.warn({ event: 'hurrying', signal }, 'second signal: not waiting any longer');
          gateway.hurry();
        }
      });
    }
  });
  await gateway.close();
  log.info({ event: 'stopped' }, 'stopped');
  return reason;
}
