import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { loadModules } from '../../../child/modules/load.ts';
import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';

let pack: Folder;
beforeEach(() => {
  pack = makeFolder({ 'waits.mjs': 'await new Promise(() => {});', 'right.mjs': 'export default 1;' });
});
afterEach(() => pack.remove());

describe('modules that do not come to an end', () => {
  test('E19: one is given up after a while, and the next is loaded', async () => {
    const loaded = await loadModules([pack.file('waits.mjs'), pack.file('right.mjs')], {
      root: pack.path,
      buildDir: () => pack.path,
      // What a module holds open, such as a connection, keeps the loop from running empty, as this test run does.
      onLoopEmpty: () => () => {},
      patienceMs: 50,
    });
    expect(loaded.get(pack.file('waits.mjs'))).toEqual({
      ok: false,
      error: new Error('a top-level await in waits.mjs, or in what it imports, never settles, not in 0.05 s'),
    });
    expect(loaded.get(pack.file('right.mjs'))).toMatchObject({ ok: true, exports: { default: 1 } });
  });
});
