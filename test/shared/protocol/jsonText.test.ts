import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { isDeeperThan, parseJsonBytes } from '../../../shared/protocol/jsonText.ts';
import { MAX_JSON_DEPTH } from '../../../shared/protocol/limits.ts';

const nested = (depth: number): Buffer => Buffer.from('['.repeat(depth) + ']'.repeat(depth));

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('JSON in bytes', () => {
  test('A28: what JSON.parse reads from valid UTF-8 is read the same', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJsonBytes(Buffer.from(text))).toEqual({ ok: true, value: JSON.parse(text) as unknown });
      }),
    );
  });

  test('A28: any bytes give a value or a reason, never an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(parseJsonBytes(Buffer.from(bytes))).toHaveProperty('ok');
      }),
    );
  });

  test.each([
    ['a byte order mark', Buffer.from('\uFEFF{}')],
    ['invalid UTF-8', Buffer.from([0x22, 0xc3, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['two documents', Buffer.from('{}{}')],
    ['nothing', Buffer.alloc(0)],
  ])('A28: %s is refused', (_name, bytes) => {
    expect(parseJsonBytes(bytes)).toEqual({ ok: false, why: expect.any(String) });
  });

  test('A29: the last of duplicate keys counts', () => {
    expect(parseJsonBytes(Buffer.from('{"a":1,"\\u0061":2}'))).toEqual({ ok: true, value: { a: 2 } });
  });

  test('A14: the limit of nesting is exact, and a value past it is refused without a stack', () => {
    expect(parseJsonBytes(nested(MAX_JSON_DEPTH)).ok).toBe(true);
    expect(parseJsonBytes(nested(MAX_JSON_DEPTH + 1))).toEqual({ ok: false, why: expect.stringContaining('512') });
    expect(parseJsonBytes(nested(5_000_000)).ok).toBe(false);
  });

  test('A14: the depth is that of the value, whatever its strings hold', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.nat({ max: 8 }), (text, limit) => {
        const depth = depthOf(JSON.parse(text) as unknown);
        expect(isDeeperThan(Buffer.from(text), limit)).toBe(depth > limit);
      }),
    );
  });
});
