import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { canonicalText } from '../../../child/index/canonical.ts';

describe('canonical bytes', () => {
  test('E10 E12: keys by code unit, two blanks, one newline, numbers as JavaScript prints them', () => {
    const value = { b: [], a: {}, é: 'é\u0007', Z: -0, '10': 1e21, '9': 1e-7, list: [2, 1] };
    expect(canonicalText(value)).toBe(
      '{\n  "9": 1e-7,\n  "10": 1e+21,\n  "Z": 0,\n  "a": {},\n  "b": [],\n  "list": [\n    2,\n    1\n  ],\n  "é": "é\\u0007"\n}\n',
    );
  });

  test('E10: a key named __proto__ is a key', () => {
    expect(canonicalText(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{\n  "__proto__": {\n    "a": 1\n  }\n}\n');
  });

  test('E10: reading and writing again gives the same bytes, in whatever order the keys were', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalText(value);
        expect(canonicalText(JSON.parse(text))).toBe(text);
      }),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.nat()), (value) => {
        expect(canonicalText(Object.fromEntries(Object.entries(value).reverse()))).toBe(canonicalText(value));
      }),
    );
  });
});
