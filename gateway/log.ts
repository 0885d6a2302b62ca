import pino from 'pino';
import type { Logger } from 'pino';

/** Most that is held of log lines whose reader is slow; beyond it they are dropped and counted, never queued. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

export interface GatewayLog {
  readonly logger: Logger;
  /** Writes what is held; called once, at the very end. */
  readonly flush: () => void;
}

/**
 * The gateway's log on `fd`: one JSON record a line, in the shape of a pack service's records (C18) plus `event`,
 * `tenant`, `deployment`, `instance`. A record of a pack stands under one key of its own, so that it cannot pose as ours.
 */
export function openLog(fd: number, level = 'info'): GatewayLog {
  const destination = pino.destination({ fd, sync: false, maxLength: MAX_HELD_BYTES });
  let dropped = 0;
  destination.on('drop', () => {
    dropped += 1;
  });
  destination.on('error', () => undefined);
  const logger = pino(
    {
      level,
      base: { subsystem: 'gateway' },
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  destination.on('drain', () => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    logger.warn({ event: 'log-dropped', lines }, 'log lines were dropped: their reader is too slow');
  });
  return {
    logger,
    flush: () => {
      try {
        destination.flushSync();
      } catch {
        // Its reader has gone, or takes nothing: there is nobody to tell.
      }
    },
  };
}
