import type { Log } from '../../shared/log.ts';
import { createConnectionRejected } from './connections.ts';
import type { Files } from './files.ts';
import { createPause, PauseNotAvailable, waitTokenOf } from './pause.ts';

/** What the service adds to the context that was sent. */
export interface ContextParts {
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Undefined: the call has no files (D35). */
  readonly files: Files | undefined;
}

/** What is not shown, or is the service's to give, whatever a call sends under that name. */
const HIDDEN: ReadonlySet<string> = new Set([
  'secrets',
  'connections',
  'waitToken',
  'toolFiles',
  'files',
  'log',
  'pause',
  'connectionRejected',
]);

/**
 * The second argument of a handler (D30). Enumerable: every field of the call's context as sent, unknown ones too, and
 * `abortSignal`. Present but not enumerable, so that printing, spreading or serialising a context shows none of them:
 * `secrets` and `connections` where sent, `waitToken`, `log`, `files` where the call has some, `pause` and
 * `connectionRejected`. `toolFiles` never gets here (D34).
 */
export function createContext(
  sent: Readonly<Record<string, unknown>>,
  { signal, log, files }: ContextParts,
): Readonly<Record<string, unknown>> {
  const { secrets, connections } = sent;
  const waitToken = waitTokenOf(sent);
  const shown = Object.fromEntries(Object.entries(sent).filter(([name]) => !HIDDEN.has(name)));
  const context: Record<string, unknown> = { ...shown, abortSignal: signal };
  const hidden = {
    secrets,
    connections,
    waitToken,
    log,
    files,
    pause: (options?: unknown) => {
      // As soon as the tool tries, not when it returns (D44).
      if (waitToken === undefined) throw new PauseNotAvailable();
      return createPause(options);
    },
    connectionRejected: (name: unknown) => createConnectionRejected(sent, name),
  };
  for (const [name, value] of Object.entries(hidden)) {
    if (value === undefined) continue;
    Object.defineProperty(context, name, { value, enumerable: false, writable: true, configurable: true });
  }
  if (waitToken === undefined) Object.defineProperty(context, 'waitToken', NO_WAIT_TOKEN);
  return context;
}

/** A tool that reads the token of a call without one cannot pause, whatever it wanted it for (D44, D46). */
const NO_WAIT_TOKEN: PropertyDescriptor = {
  get: () => {
    throw new PauseNotAvailable();
  },
  enumerable: false,
  configurable: true,
};
