import type { Server } from 'node:http';

import { SERVICE_DRAIN_MS } from '../../shared/protocol/limits.ts';
import type { Admission } from './admission.ts';
import type { Events } from './events.ts';

/** Subscribes to the process's stop signals. */
export type OnStopSignal = (listener: () => void) => void;

/**
 * Serves until a stop signal, then ends: calls under way may take 8 s more (C29), a second signal ends it now (C35), and
 * what is left is cut. Resolves when the process may exit with 0.
 */
export function serveUntilStopped(
  { server, admission, events }: { server: Server; admission: Admission; events: Events },
  onStopSignal: OnStopSignal,
): Promise<void> {
  return new Promise((resolve) => {
    let state: 'serving' | 'draining' | 'stopped' = 'serving';
    let timer: NodeJS.Timeout | undefined;
    const stop = (): void => {
      if (state === 'stopped') return;
      state = 'stopped';
      clearTimeout(timer);
      server.close();
      server.closeAllConnections();
      events.write('info', 'stopped', 'Stopped');
      resolve();
    };
    onStopSignal(() => {
      if (state !== 'serving') return stop();
      state = 'draining';
      events.write('info', 'draining', 'Draining: calls in flight may end, new ones are refused');
      timer = setTimeout(stop, SERVICE_DRAIN_MS);
      void admission.drain().then(stop);
    });
  });
}
