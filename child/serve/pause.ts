import { isBag } from '../modules/exports.ts';
import { PAUSE } from '../../shared/protocol/markers.ts';
import { MAX_PAUSE_MS } from '../../shared/protocol/limits.ts';

/** How long a call waits for another system, and what people read about it. */
export interface PauseOptions {
  /** Whole milliseconds, 1 to 2,073,600,000 (24 days). Default: the runtime's 24 hours (D43). */
  readonly timeoutMs?: number;
  /** What the run waits for, in a few words. */
  readonly name?: string;
}

/** What a handler returns instead of its output: an answer that comes later, from whoever got the wait token's url. */
export interface Pause {
  readonly [PAUSE]: PauseOptions;
}

/** A tool tried to pause a call that carries no wait token: `pause-not-available` (D44). */
export class PauseNotAvailable extends Error {
  constructor() {
    super('the call carries no wait token: the runtime is older, or the index entry of the tool does not say `pauses`');
    this.name = 'PauseNotAvailable';
    made.add(this);
  }
}

/** By identity: what pack code throws may be anything, also something that throws when it is looked at. */
const made = new WeakSet<PauseNotAvailable>();

export function isPauseNotAvailable(thrown: unknown): thrown is PauseNotAvailable {
  return made.has(thrown as PauseNotAvailable);
}

/** The wait token of a call's context, if it is one (D6). */
export function waitTokenOf(ctx: Readonly<Record<string, unknown>>): object | undefined {
  const { waitToken } = ctx;
  return isBag(waitToken) && typeof waitToken.id === 'string' && typeof waitToken.url === 'string'
    ? waitToken
    : undefined;
}

/** `ctx.pause`: checks at once, so that a mistake is thrown in the line that made it. Throws a `TypeError`. */
export function createPause(options: unknown): Pause {
  return Object.freeze({ [PAUSE]: readOptions(options) });
}

/**
 * The pause that a handler returned, undefined when it returned something else. Checked again, because a helper of the
 * pack may have made it. Throws a `TypeError`.
 */
export function pauseOf(returned: unknown): PauseOptions | undefined {
  return isBag(returned) && PAUSE in returned ? readOptions((returned as { [PAUSE]?: unknown })[PAUSE]) : undefined;
}

function readOptions(options: unknown = {}): PauseOptions {
  if (!isBag(options)) throw new TypeError('Expected the options of a pause to be an object { timeoutMs?, name? }');
  const { timeoutMs, name } = options;
  if (timeoutMs !== undefined && !isDuration(timeoutMs)) {
    const found = typeof timeoutMs === 'number' ? String(timeoutMs) : `a ${typeof timeoutMs}`;
    throw new TypeError(
      `Expected \`timeoutMs\` of a pause to be a whole number from 1 to ${MAX_PAUSE_MS}, got ${found}`,
    );
  }
  if (name !== undefined && typeof name !== 'string') {
    throw new TypeError(`Expected \`name\` of a pause to be a text, got a ${typeof name}`);
  }
  return { ...(timeoutMs !== undefined && { timeoutMs }), ...(name !== undefined && { name }) };
}

function isDuration(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_PAUSE_MS;
}
