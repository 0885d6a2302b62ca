import pino from 'pino';
import type { DestinationStream, Logger } from 'pino';
import { LineWriter } from './lineWriter.ts';

/**
 * Most that is held of log lines whose reader is slow; beyond it they are dropped and counted, never queued. What packs
 * print gets half of it, so that a noisy pack cannot push the gateway's own records out.
 */
const MAX_HELD_BYTES = 4 * 1024 * 1024;
const MAX_PACK_BYTES = MAX_HELD_BYTES / 2;

/** How long the reader may take for what is left at the end: a slow one must not keep the gateway from ending. */
const LAST_WRITE_MS = 1_000;

export interface GatewayLog {
  /** The gateway's own records. */
  readonly logger: Logger;
  /** What packs print. */
  readonly packLogger: Logger;
  /** Writes what is held, for a second at most; called once, at the very end. */
  readonly flush: () => Promise<void>;
}

/**
 * The gateway's log on `fd`: one JSON record a line, in the shape of a pack service's records (C18) plus `event`,
 * `tenant`, `deployment`, `instance`. A record of a pack stands under one key of its own, so that it cannot pose as ours.
 */
export function openLog(fd: number, level = 'info'): GatewayLog {
  let dropped = 0;
  const writer = new LineWriter(fd, () => {
    if (writer.heldBytes <= MAX_PACK_BYTES) tellDropped();
  });
  const upTo = (maxBytes: number): DestinationStream => ({
    write(line) {
      const bytes = Buffer.byteLength(line);
      if (writer.heldBytes + bytes > maxBytes) dropped += 1;
      else writer.write(line, bytes);
    },
  });
  const logger = pino(optionsFor(level), upTo(MAX_HELD_BYTES));
  const packLogger = pino(optionsFor(level), upTo(MAX_PACK_BYTES));
  // Always finds room: nothing else is told to nobody.
  const noticeLogger = pino(optionsFor(level), upTo(Infinity));
  const tellDropped = (): void => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    noticeLogger.warn({ event: 'log-dropped', lines }, 'log lines were dropped: their reader is too slow');
  };
  const flush = (): Promise<void> => {
    tellDropped();
    return writer.close(LAST_WRITE_MS);
  };
  return { logger, packLogger, flush };
}

/** A log whose records, a line of JSON each, somebody else shows. */
export function logInto(destination: DestinationStream, level = 'info'): Logger {
  return pino(optionsFor(level), destination);
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
