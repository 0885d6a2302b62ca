import type { DestinationStream } from 'pino';
import type { Paint } from '../cli/paint.ts';
import { LineWriter } from '../lineWriter.ts';
import { logInto } from '../log.ts';
import type { GatewayLog } from '../log.ts';
import { linesOf } from './lines.ts';
import type { LogRecord } from './lines.ts';
import type { Prefixes } from './prefixes.ts';

/** Most that is held of lines that a stopped terminal does not take (Ctrl+S); what comes after that is dropped. */
const MAX_HELD_BYTES = 1024 * 1024;

/** How long the terminal may take for the last lines. */
const LAST_WRITE_MS = 1_000;

/** A log for a person. */
export interface TerminalLog extends GatewayLog {
  /** Lines of our own, without a prefix. */
  readonly print: (lines: readonly string[]) => void;
}

/** Shows log records to a person: a line each, under the prefix of the pack it is about. Never blocks on the terminal. */
export function openTerminal(fd: number, prefixes: Prefixes, paint: Paint): TerminalLog {
  const writer = new LineWriter(fd, () => undefined);
  const print = (lines: readonly string[]): void => {
    for (const line of lines) {
      const text = `${line}\n`;
      const bytes = Buffer.byteLength(text);
      if (writer.heldBytes + bytes <= MAX_HELD_BYTES) writer.write(text, bytes);
    }
  };
  const destination: DestinationStream = {
    write: (json) => {
      const record = JSON.parse(json) as LogRecord;
      const prefix = prefixes.of(typeof record.tenant === 'string' ? record.tenant : undefined);
      print(linesOf(record, paint).map((line) => `${prefix}${line}`));
    },
  };
  const logger = logInto(destination);
  return { logger, packLogger: logger, print, flush: () => writer.close(LAST_WRITE_MS) };
}
