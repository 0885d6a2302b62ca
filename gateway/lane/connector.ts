import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** What undici 7 keeps on a connection, under a symbol of its own. */
interface Parser {
  paused: boolean;
  readonly llhttp: { llhttp_resume(pointer: number): void };
  readonly ptr: number;
  resume(): void;
}

/**
 * Connects to a service, and keeps undici 7.30.2 from ending this process: when a service closes its connection while an
 * answer is held back for a slow caller, with its last byte already read, undici fails an assertion in the connection's
 * `end` event, where nothing can catch it (nodejs/undici#5360, mended in 8, which needs Node 22). All bytes have been
 * passed on at that moment, so its parser is told to go on, and the answer ends as it should.
 */
export function createConnector(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs });
  return (options, callback) => {
    connect(options, (...result) => {
      const [error, socket] = result;
      // Before undici listens itself, so that this is heard first.
      if (error === null) socket.on('end', () => resumeParser(socket));
      callback(...result);
    });
  };
}

function resumeParser(socket: Socket): void {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser');
  const parser = symbol && (socket as unknown as Record<symbol, Parser | null>)[symbol];
  if (!parser?.paused) return;
  parser.resume();
  // An answer that only the close ends, or cuts short, is held back still: what undici does next decides which it is.
  if (!parser.paused) return;
  parser.llhttp.llhttp_resume(parser.ptr);
  parser.paused = false;
}
