import type { Io } from '../command.ts';

/** Back to the beginning of the line, and what stood on it is gone. */
const CLEAR = '\r\u001b[K';

/** How far a run is, on one line of stderr; nothing where that is no terminal. */
export interface Progress {
  show(text: string): void;
  /** Takes the line away. */
  end(): void;
}

export function progressOn({ stderr, isTty }: Pick<Io, 'stderr' | 'isTty'>): Progress {
  if (!isTty.stderr) return { show: () => undefined, end: () => undefined };
  return {
    show: (text) => void stderr.write(`${CLEAR}${text}`),
    end: () => void stderr.write(CLEAR),
  };
}
