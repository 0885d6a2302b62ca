import { describe, expect, test } from 'vitest';

import { compileGlob } from '../../../child/index/glob.ts';

describe('a discovery pattern', () => {
  test.each([
    [
      'tools/**/*.{ts,js,mjs}',
      'tools',
      ['tools/a.ts', 'tools/b/c.d/e.mjs'],
      ['tools/a.cjs', 'tools', 'atools/a.ts', 'x/tools/a.ts'],
    ],
    ['./src/*/tool.mjs', 'src', ['src/a/tool.mjs'], ['src/tool.mjs', 'src/a/b/tool.mjs']],
    ['src/{one,two}/?.mjs', 'src', ['src/one/a.mjs', 'src/two/b.mjs'], ['src/three/a.mjs', 'src/one/ab.mjs']],
    ['tools/fixed.mjs', 'tools', ['tools/fixed.mjs'], ['tools/fixedxmjs', 'tools/other.mjs']],
    ['**/*.mjs', '', ['a.mjs', 'a/b.mjs'], ['a.js']],
    ['a/**', 'a', ['a/b', 'a/b/c'], ['b/a']],
    ['a+(b)/[c].$', 'a+(b)', ['a+(b)/[c].$'], ['aab/c.$']],
    ['!a/*.mjs', '!a', ['!a/x.mjs'], ['b/x.mjs']],
  ])('E24: %s is walked from "%s"', (pattern, base, matching, other) => {
    const glob = compileGlob(pattern);
    expect(glob.base).toBe(base);
    expect(matching.filter((path) => !glob.matches(path))).toEqual([]);
    expect(other.filter((path) => glob.matches(path))).toEqual([]);
  });
});
