import { isUtf8 } from 'node:buffer';

import { MAX_JSON_DEPTH } from './limits.ts';

/** A value read from bytes, or why the bytes are no JSON document of ours. */
export type JsonText = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Reads UTF-8 JSON strictly (A28): no byte order mark, no invalid UTF-8, one document, and no deeper than 512 (A14).
 * The last of duplicate keys wins (A29). Never throws.
 */
export function parseJsonBytes(bytes: Buffer): JsonText {
  if (!isUtf8(bytes)) return { ok: false, why: 'the body is not valid UTF-8' };
  if (isDeeperThan(bytes, MAX_JSON_DEPTH))
    return { ok: false, why: `the body is nested deeper than ${MAX_JSON_DEPTH}` };
  try {
    return { ok: true, value: JSON.parse(bytes.toString('utf8')) as unknown };
  } catch {
    return { ok: false, why: 'the body is not valid JSON' };
  }
}

/** Whether brackets outside strings nest deeper than `limit`; exact for valid JSON. */
export function isDeeperThan(bytes: Buffer, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (inString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1;
    }
  }
  return false;
}
