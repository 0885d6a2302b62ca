import { describe, expect, it } from 'vitest';
import { bytesText, durationText, sinceText } from '../../../gateway/cli/amounts.ts';
import { jsonText, printable, printableLines } from '../../../gateway/cli/printable.ts';

const ACTING = [
  '\u001b',
  '\r',
  '\n',
  '\0',
  '\u007f',
  '\u009b',
  '\u200b',
  '\u202e',
  '\u2028',
  '\ufeff',
  '\ud800',
  '\u{e0041}',
];

describe('text of others', () => {
  it.each(ACTING)('has no %j left in it that a terminal could act on', (character) => {
    const shown = printable(`a${character}b`);
    expect(shown).toBe(`a\\u{${(character.codePointAt(0) ?? 0).toString(16)}}b`);
  });

  it('is otherwise as it was', () => {
    expect(printable('Zürich 東京 🙂 a\\b "c" d\te')).toBe('Zürich 東京 🙂 a\\b "c" d e');
    expect(printableLines('one\r\ntwo\u001b[2J\n\n')).toEqual(['one', 'two\\u{1b}[2J']);
  });

  it('is safe as JSON, too, and still the same data', () => {
    const data = { text: ACTING.join('-'), list: [1, 'ü🙂'] };
    const json = jsonText(data);
    expect(JSON.parse(json)).toEqual(data);
    expect(json.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    expect(json).toContain('ü🙂');
  });
});

describe('amounts', () => {
  it.each([
    [-5, '0 ms'],
    [0.4, '0 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [59_499, '59 s'],
    [59_500, '1m 0s'],
    [3_599_000, '59m 59s'],
    [3_600_000, '1h 0m'],
    [86_399_000, '23h 59m'],
    [90_000_000, '1d 1h'],
  ])('%d ms are %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [84.25 * 2 ** 20, '84.3 MiB'],
    [3 * 2 ** 30, '3.0 GiB'],
  ])('%d bytes are %s', (bytes, text) => {
    expect(bytesText(bytes)).toBe(text);
  });

  it('what is no time has no age', () => {
    expect(sinceText('2026-01-02T03:04:05.000Z', Date.parse('2026-01-02T03:04:17.000Z'))).toBe('12 s');
    expect(sinceText('soon', 0)).toBe('-');
  });
});
