import type { Log } from '../../shared/log.ts';

/**
 * The second argument of a handler (D30). Enumerable: every field of the call's context as sent, unknown ones too, and
 * `abortSignal`. Present but not enumerable, so that printing, spreading or serialising a context shows none of them:
 * `secrets`, `connections` and `waitToken` where sent (D34), and `log`. `toolFiles` never gets here.
 */
export function createContext(
  sent: Readonly<Record<string, unknown>>,
  { signal, log }: { signal: AbortSignal; log: Log },
): object {
  const { secrets, connections, waitToken, toolFiles: _kept, ...shown } = sent;
  const context = { ...shown, abortSignal: signal };
  for (const [name, value] of Object.entries({ secrets, connections, waitToken, log })) {
    if (value === undefined) continue;
    Object.defineProperty(context, name, { value, enumerable: false, writable: true, configurable: true });
  }
  return context;
}
