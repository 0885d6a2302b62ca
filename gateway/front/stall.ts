import type { IncomingMessage } from 'node:http';

/** An upload that sends nothing for this long gives way to whoever waits for the room it holds. */
const YIELD_MS = 1_000;

/** An upload that sends nothing for this long is closed. */
const STALL_MS = 10_000;

export interface StallEvents {
  /** Asked about once a second while nothing comes. */
  readonly mustYield: () => boolean;
  readonly onYield: () => void;
  readonly onDead: () => void;
}

/** Watches whether a request's body moves on. The returned function ends that. */
export function watchStall(request: IncomingMessage, { mustYield, onYield, onDead }: StallEvents): () => void {
  const { socket } = request;
  let seenBytes = -1;
  let quietMs = 0;
  // Any byte starts the socket's timer anew, so when it fires nothing has come for one period.
  const onQuiet = (): void => {
    quietMs = socket.bytesRead === seenBytes ? quietMs + YIELD_MS : YIELD_MS;
    seenBytes = socket.bytesRead;
    if (quietMs >= STALL_MS) onDead();
    else if (mustYield()) onYield();
    else socket.setTimeout(YIELD_MS);
  };
  // On the request: Node's server closes a connection whose timeout nobody hears there.
  request.on('timeout', onQuiet);
  socket.setTimeout(YIELD_MS);
  return () => {
    socket.setTimeout(0);
    request.off('timeout', onQuiet);
  };
}
