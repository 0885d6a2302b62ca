import pino from 'pino';
import type { DestinationStream, Logger } from 'pino';

/**
 * Most that is held of log lines whose reader is slow; beyond it they are dropped and counted, never queued. What packs
 * print gets half of it, so that a noisy pack cannot push the gateway's own records out.
 */
const MAX_HELD_BYTES = 4 * 1024 * 1024;
const MAX_PACK_BYTES = MAX_HELD_BYTES / 2;

/** Lines are written together, at the latest after this time: one write a line cost a fifth of a warm call's CPU. */
const WRITE_EVERY_MS = 50;
const WRITE_FROM_BYTES = 8 * 1024;

export interface GatewayLog {
  /** The gateway's own records. */
  readonly logger: Logger;
  /** What packs print. */
  readonly packLogger: Logger;
  /** Writes what is held; called once, at the very end. */
  readonly flush: () => void;
}

/**
 * The gateway's log on `fd`: one JSON record a line, in the shape of a pack service's records (C18) plus `event`,
 * `tenant`, `deployment`, `instance`. A record of a pack stands under one key of its own, so that it cannot pose as ours.
 */
export function openLog(fd: number, level = 'info'): GatewayLog {
  const destination = pino.destination({ fd, sync: false, minLength: WRITE_FROM_BYTES });
  let heldBytes = 0;
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  const writeSoon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      destination.flush();
    }, WRITE_EVERY_MS);
  };
  const upTo = (maxBytes: number): DestinationStream => ({
    write(line) {
      const bytes = Buffer.byteLength(line);
      if (heldBytes + bytes > maxBytes) dropped += 1;
      else {
        heldBytes += bytes;
        destination.write(line);
        writeSoon();
      }
    },
  });
  const logger = pino(optionsFor(level), upTo(MAX_HELD_BYTES));
  const packLogger = pino(optionsFor(level), upTo(MAX_PACK_BYTES));
  destination.on('write', (bytes: number) => {
    heldBytes -= bytes;
    if (dropped === 0 || heldBytes > MAX_PACK_BYTES) return;
    const lines = dropped;
    dropped = 0;
    logger.warn({ event: 'log-dropped', lines }, 'log lines were dropped: their reader is too slow');
  });
  // A flush that comes while something is being written does nothing.
  destination.on('drain', () => {
    if (heldBytes > 0) writeSoon();
  });
  // Its reader has gone: there is nobody to tell, and no reason to die.
  destination.on('error', () => undefined);
  return { logger, packLogger, flush: () => flushQuietly(destination) };
}

function optionsFor(level: string): pino.LoggerOptions {
  return {
    level,
    base: { subsystem: 'gateway' },
    messageKey: 'message',
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
  };
}

function flushQuietly(destination: ReturnType<typeof pino.destination>): void {
  try {
    destination.flushSync();
  } catch {
    // As above.
  }
}
