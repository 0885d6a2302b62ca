import { setImmediate as nextTurn } from 'node:timers/promises';
import { tenantKey } from '../../shared/protocol/tenantId.ts';

/** The few members of a request message that the gateway may need; undefined where absent or of another type. */
export interface Peeked {
  v?: number;
  kind?: string;
  toolId?: string;
  checkId?: string;
  tenantId?: string;
  runId?: string;
}

/** How far a body is read in one go; a longer one is read in turns with everything else that the gateway does. */
const TURN_BYTES = 256 * 1024;

/** Which member of the message each of the wanted facts is, as `key` or `key.key`. */
const WANTED: ReadonlyMap<string, keyof Peeked> = new Map([
  ['v', 'v'],
  ['kind', 'kind'],
  ['tool.id', 'toolId'],
  ['check.id', 'checkId'],
  ['ctx.tenantId', 'tenantId'],
  ['ctx.runId', 'runId'],
]);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/**
 * Looks into a JSON body without building it. On valid JSON it finds what a parser would find: the last of several equal
 * keys, keys written with escapes, at any depth of nesting around them. On anything else it finds something or nothing;
 * every service refuses such a body by itself (A28).
 */
export async function peek(body: Buffer): Promise<Peeked> {
  const scan = new Scan(body);
  while (!scan.run(TURN_BYTES)) await nextTurn();
  return scan.found;
}

/** Whether this is a well-formed tool call whose context names another tenant (B1, B5): a malformed one is the service's to refuse. */
export function isForeign(peeked: Peeked, key: string): boolean {
  const { v, kind, toolId, tenantId, runId } = peeked;
  const isCall = v === 2 && kind === 'invoke' && toolId !== undefined && toolId !== '' && runId !== undefined;
  return isCall && tenantId !== undefined && tenantKey(tenantId) !== key;
}

/** A resumable pass over the bytes. Only keys of the two outer levels matter; deeper down it counts brackets. */
class Scan {
  found: Peeked = {};
  readonly #body: Buffer;
  #at = 0;
  /** Where the string began that the pass is in, or -1. */
  #stringAt = -1;
  #depth = 0;
  /** Of the two outer containers (index 1 and 2): whether it is an object, whose key comes next, and the last key. */
  readonly #isObject = [false, false, false];
  readonly #expectsKey = [false, false, false];
  readonly #key = ['', '', ''];

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** Goes on for about `bytes`. True when the end has been reached. */
  run(bytes: number): boolean {
    const body = this.#body;
    const stopAt = this.#at + bytes;
    while (this.#at < body.length) {
      if (this.#at >= stopAt) return false;
      const byte = body[this.#at];
      if (byte === QUOTE || this.#stringAt >= 0) this.#string(stopAt);
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#open(byte === OPEN_BRACE);
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#close();
      else if (byte === COMMA) this.#comma();
      else if (byte === COLON || isBlank(byte) || this.#depth > 2) this.#at += 1;
      else this.#literal();
    }
    return true;
  }

  #open(isObject: boolean): void {
    this.#value(undefined);
    this.#at += 1;
    this.#depth += 1;
    if (this.#depth > 2) return;
    this.#isObject[this.#depth] = isObject;
    this.#expectsKey[this.#depth] = isObject;
    this.#key[this.#depth] = '';
  }

  #close(): void {
    this.#at += 1;
    this.#depth -= 1;
    // A body that closes more than it opened is no JSON; what follows must not look like the outer level again.
    if (this.#depth <= 0) this.#at = this.#body.length;
  }

  #comma(): void {
    this.#at += 1;
    if (this.#depth <= 2) this.#expectsKey[this.#depth] = this.#isObject[this.#depth] ?? false;
  }

  /** A string begins, or goes on from where the last turn left it. */
  #string(stopAt: number): void {
    if (this.#stringAt < 0) {
      this.#stringAt = this.#at;
      this.#at += 1;
    }
    const body = this.#body;
    while (this.#at < body.length) {
      if (this.#at >= stopAt) return;
      const byte = body[this.#at];
      this.#at += byte === BACKSLASH ? 2 : 1;
      if (byte === QUOTE) break;
    }
    const start = this.#stringAt;
    this.#stringAt = -1;
    if (this.#depth > 2) return;
    if (this.#expectsKey[this.#depth]) {
      this.#expectsKey[this.#depth] = false;
      this.#key[this.#depth] = textOf(body, start, this.#at) ?? '';
    } else this.#value([start, this.#at]);
  }

  #literal(): void {
    const start = this.#at;
    while (this.#at < this.#body.length && !isDelimiter(this.#body[this.#at])) this.#at += 1;
    this.#value([start, this.#at]);
  }

  /** A value begins: its bytes for a scalar, undefined for a container. The last of equal keys wins, whole. */
  #value(range: readonly [number, number] | undefined): void {
    if (this.#depth < 1 || this.#depth > 2 || !this.#isObject[this.#depth]) return;
    if (this.#depth === 1) {
      const key = this.#key[1];
      if (key === 'tool') delete this.found.toolId;
      if (key === 'check') delete this.found.checkId;
      if (key === 'ctx') {
        delete this.found.tenantId;
        delete this.found.runId;
      }
    }
    const path = this.#depth === 1 ? this.#key[1] : `${this.#key[1]}.${this.#key[2]}`;
    const fact = WANTED.get(path ?? '');
    if (fact === undefined) return;
    delete this.found[fact];
    if (range === undefined) return;
    const [start, end] = range;
    if (fact === 'v') {
      const number = this.#body[start] === QUOTE ? Number.NaN : Number(this.#body.toString('latin1', start, end));
      if (!Number.isNaN(number)) this.found.v = number;
    } else if (this.#body[start] === QUOTE) {
      const text = textOf(this.#body, start, end);
      if (text !== undefined) this.found[fact] = text;
    }
  }
}

/** The text of a JSON string with its quotes; undefined when it is none. */
function textOf(body: Buffer, start: number, end: number): string | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8', start, end));
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDelimiter(byte: number | undefined): boolean {
  return (
    byte === COMMA ||
    byte === CLOSE_BRACE ||
    byte === CLOSE_BRACKET ||
    byte === COLON ||
    byte === QUOTE ||
    isBlank(byte)
  );
}
