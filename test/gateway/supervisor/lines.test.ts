import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../../gateway/supervisor/lines.ts';

describe('cutting a stream into lines', () => {
  function linesOf(chunks: Buffer[]): [string, number][] {
    const lines: [string, number][] = [];
    const splitter = new LineSplitter((line, cutBytes) => lines.push([line.toString(), cutBytes]));
    for (const chunk of chunks) splitter.push(chunk);
    splitter.end();
    return lines;
  }

  it('gives the same lines however the bytes are cut', () => {
    const text = 'a\nzwölf\r\n\n{"kind":"x"}\nohne Ende ü';
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 60 }), (sizes) => {
        const bytes = Buffer.from(text);
        const chunks: Buffer[] = [];
        let at = 0;
        for (const size of [...sizes, bytes.length]) {
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(linesOf(chunks).map(([line]) => line)).toEqual(['a', 'zwölf', '', '{"kind":"x"}', 'ohne Ende ü']);
      }),
    );
  });

  it('cuts a giant line, says how much is missing, and keeps the next one intact', () => {
    const piece = Buffer.alloc(1_000_000, 'x');
    const lines = linesOf([piece, piece, Buffer.from('\nnext\n')]);
    expect(lines[0]?.[0]).toHaveLength(65_536);
    expect(lines[0]?.[1]).toBe(2_000_000 - 65_536);
    expect(lines[1]).toEqual(['next', 0]);
  });

  it('only counts lines that are not wanted, and cuts out what comes in pieces all the same', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', '{', '\n', 'ü'), { maxLength: 200 }),
        fc.integer({ min: 1, max: 9 }),
        (text, size) => {
          const bytes = Buffer.from(text.join(''));
          const cut: string[] = [];
          let skipped = 0;
          const splitter = new LineSplitter((line) => cut.push(line.toString()), {
            isWanted: (firstByte) => firstByte === 0x7b,
            onSkipped: (lines) => (skipped += lines),
          });
          for (let at = 0; at < bytes.length; at += size) splitter.push(bytes.subarray(at, at + size));
          splitter.end();
          const all = bytes
            .toString()
            .split('\n')
            .filter((line) => line !== '');
          const told = cut.filter((line) => line !== '');
          expect(told.length + skipped).toBe(all.length);
          expect(told.filter((line) => line.startsWith('{'))).toEqual(all.filter((line) => line.startsWith('{')));
        },
      ),
    );
  });
});
