import { readFileSync } from 'node:fs';
import { writeAtomically } from '../../shared/atomicFile.ts';

/** What a deployment serves, kept for the gateway's next life. */
export interface Serving {
  /** Id of the build that served last. */
  readonly kept: string;
  /** Id of the one before it. */
  readonly previous?: string | undefined;
  /** Whether `kept` is there because an operator went back to it: then it is what is served next. */
  readonly isRolledBack: boolean;
  /** What of the settings it was made by; other settings make another build. */
  readonly basis: string;
}

/** An id becomes the name of a folder. */
const ID = /^[0-9a-f]{12}$/;

/**
 * Undefined when there is none yet. At once, so that what is said of a deployment is right before its first start.
 * @throws {Error} when it cannot be read or is damaged.
 */
export function readServing(path: string): Serving | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause;
  }
  const { kept, previous, isRolledBack, basis } = (JSON.parse(text) ?? {}) as Partial<Record<keyof Serving, unknown>>;
  const isGood = isId(kept) && (previous === undefined || isId(previous));
  if (isGood && typeof isRolledBack === 'boolean' && typeof basis === 'string')
    return { kept, previous, isRolledBack, basis };
  throw new Error(`${path} does not name a build`);
}

export function writeServing(path: string, serving: Serving): Promise<void> {
  return writeAtomically(path, `${JSON.stringify(serving)}\n`, { mode: 0o600 });
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}
