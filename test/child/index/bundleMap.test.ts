import { afterEach, describe, expect, test } from 'vitest';

import type { Folder } from '../support/folder.ts';
import { indexPack, newPack, readIndex, toolModule } from './indexing.ts';

let pack: Folder;
afterEach(() => pack.remove());

describe('indexing a build', () => {
  const indexBuild = (map: object): ReturnType<typeof indexPack> =>
    indexPack(pack, '--bundle-map', pack.write('map.json', map), '--module-root', pack.file('built'));

  test('F16 E24: the map says what there is, sources need not be there', async () => {
    pack = newPack({ 'built/a.mjs': toolModule('acme.a'), 'tools/not-in-the-map.mjs': 'throw new Error("loaded")' });
    const { code, fileErrors } = await indexBuild({ 'tools/deep/a.ts': 'a.mjs', 'lib/helper.ts': 'helper.mjs' });
    expect({ code, fileErrors }).toEqual({ code: 0, fileErrors: [] });
    expect(readIndex(pack).tools).toMatchObject([{ id: 'acme.a', modulePath: 'tools/deep/a.ts' }]);
  });

  test('F16 E25 E26: what is skipped among sources is skipped in a map', async () => {
    pack = newPack({ 'built/a.mjs': toolModule('acme.a') });
    const skipped = ['a.test.ts', '_a.ts', '_lib/a.ts', '.a.ts', 'node_modules/a.ts', 'a.d.ts', 'a.tsx'];
    const map = Object.fromEntries(skipped.map((name) => [`tools/${name}`, 'throws.mjs']));
    expect((await indexBuild({ ...map, 'tools/a.ts': 'a.mjs' })).fileErrors).toEqual([]);
    expect(readIndex(pack).tools.map(({ modulePath }) => modulePath)).toEqual(['tools/a.ts']);
  });

  test('F16 E19: a bundle that is missing is an error of its source', async () => {
    pack = newPack({ 'built/a.mjs': toolModule('acme.a') });
    const { fileErrors } = await indexBuild({ 'tools/a.ts': 'a.mjs', 'tools/b.ts': 'b.mjs' });
    expect(fileErrors).toEqual([
      expect.objectContaining({
        code: 'file-import-failed',
        filePath: 'tools/b.ts',
        message: expect.stringContaining('b.mjs'),
      }),
    ]);
  });

  test('F16 E19: a map in which the patterns find nothing is discovery-empty', async () => {
    pack = newPack();
    expect(await indexBuild({ 'lib/a.ts': 'a.mjs' })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/discovery-empty: .* in the bundle map .*map\.json; looked for tools/),
    });
  });

  test.each([
    ['a list', []],
    ['a number for a path', { 'tools/a.ts': 1 }],
    ['an empty path', { 'tools/a.ts': '' }],
  ])('F16: a map that is %s is wrong usage', async (_what, map) => {
    pack = newPack();
    expect(await indexBuild(map)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Cannot read the bundle map'),
    });
  });
});
