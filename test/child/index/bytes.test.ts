import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { canonicalText } from '../../../child/index/canonical.ts';
import { indexPack, newPack, PINNED, toolModule } from './indexing.ts';

const key = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.nat().map(String),
  fc.constantFrom('__proto__', 'toString', 'id'),
);
const schema = fc.dictionary(key, fc.jsonValue());
const entry = fc.record(
  {
    id: fc.string({ unit: 'binary' }),
    version: fc.string(),
    input: schema,
    output: schema,
    needsSpec: fc.dictionary(key, fc.jsonValue()),
    modulePath: fc.string(),
  },
  { requiredKeys: ['id'] },
);
const anyIndex = fc.record({
  v: fc.constant(1),
  packId: fc.string(),
  tools: fc.array(entry),
  guardrails: fc.array(entry),
  env: fc.record({ optional: fc.array(key), required: fc.array(key) }),
});

describe('the bytes of an index', () => {
  test('E10 E12: those of any index survive a parse and print, and a print in another order of keys', () => {
    fc.assert(
      fc.property(anyIndex, (index) => {
        const text = canonicalText(index);
        const read = Buffer.from(text, 'utf8').toString('utf8');
        expect(canonicalText(JSON.parse(read))).toBe(text);
        expect(canonicalText(Object.fromEntries(Object.entries(index).reverse()))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(index)));
        expect(text.endsWith('}\n')).toBe(true);
      }),
    );
  });

  test('E13 E11: the same source gives the same bytes in another folder, written in another order', async () => {
    const files = ['z', 'a', 'm'].map((name) => [`tools/${name}.mjs`, toolModule(`acme.${name}`)] as const);
    const texts: string[] = [];
    for (const order of [files, files.toReversed()]) {
      const pack = newPack(Object.fromEntries(order));
      try {
        await indexPack(pack, ...PINNED);
        texts.push(readFileSync(pack.file('index.json'), 'utf8'));
      } finally {
        pack.remove();
      }
    }
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).toMatch(/"acme\.a"[^]*"acme\.m"[^]*"acme\.z"/);
  });
});
