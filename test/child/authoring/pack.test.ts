import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { startChild } from '../support/child.ts';
import type { Child } from '../support/child.ts';
import { indexOf, makeFolder, toolEntry } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { checkInvoke, invoke, post } from '../support/http.ts';
import { copyPack, indexPinned, NODES } from './nodes.ts';

let folder: Folder;
let child: Child | undefined;

beforeEach(() => {
  folder = makeFolder();
});

afterEach(async () => {
  await child?.stop();
  child = undefined;
  folder.remove();
});

const WAIT = { waitToken: { id: 'w1', url: 'https://runtime.example/waits/w1' } };
const MAIL = {
  connectionId: 'c1',
  app: 'google',
  appName: 'Google',
  accessToken: 'stale',
  account: { id: 'a1', label: 'ana@acme.example' },
};

describe.each(NODES)('a pack that imports packgate/pack without having it, on $name', ({ node }) => {
  test('F1 F15 D14 D42 D47: is indexed and served, TypeScript, ES modules and CommonJS', async () => {
    const pack = copyPack(folder, 'node-authoring', ['zod']);
    const index = folder.file('index.json');
    await indexPinned(pack, index, { node });
    child = await startChild({ index, moduleRoot: pack, node });
    const { port } = child;
    const call = async (tool: string, input: object = {}, ctx: object = {}): Promise<object> =>
      (await post(port, invoke(`authoring.${tool}`, input, ctx))).json;

    expect(await call('greet', { times: '3' })).toMatchObject({ output: { text: 'Hello WORLD!!!' } });
    expect(await call('plain')).toMatchObject({ output: 'tenant-a' });
    expect(await call('common')).toMatchObject({ output: 'common' });
    expect(await call('report')).toMatchObject({ output: 'no place for files' });
    expect(await call('approve', { hours: 2 }, WAIT)).toEqual({ v: 2, kind: 'pause', timeoutMs: 7_200_000 });
    expect(await call('approve', {}, WAIT)).toEqual({ v: 2, kind: 'pause', name: 'approval w1' });
    expect(await call('approve', { hours: 2 })).toMatchObject({ kind: 'error', code: 'pause-not-available' });
    for (const how of ['context', 'helper']) {
      const refused = await call('mail', { how }, { connections: { mail: MAIL } });
      expect(refused).toMatchObject({ kind: 'error', code: 'connection-rejected', connection: 'mail' });
    }
    const check = await post(port, checkInvoke('authoring.checks.polite', {}, { output: 'now' }));
    expect(check.json).toMatchObject({ result: { passed: false, reason: '"please" is missing' } });
  });

  test('F15: a helper deep in plain modules may be the only one that imports it', async () => {
    folder.write('tools/one.mjs', `import one from '../lib/one.mjs';\nexport default { handler: () => one };`);
    folder.write('lib/one.mjs', `import two from './two.cjs';\nexport default two;`);
    folder.write('lib/two.cjs', `module.exports = require('./three');`);
    folder.write('lib/three/index.js', `module.exports = typeof require('packgate/pack').pause;`);
    const index = folder.write('index.json', indexOf({ tools: [toolEntry('acme.one', 'tools/one.mjs')] }));
    child = await startChild({ index, node });
    expect((await post(child.port, invoke('acme.one'))).json).toMatchObject({ output: 'function' });
  });

  test('F15: a copy in the pack changes nothing: the marks are those of the service that runs it', async () => {
    folder.write('node_modules/packgate/package.json', { name: 'packgate', exports: { './pack': './none.js' } });
    const code = `import { pause } from 'packgate/pack';\nexport default { handler: () => pause() };`;
    folder.write('tools/plain.mjs', code);
    folder.write('tools/typed.ts', code);
    const tools = [toolEntry('acme.plain', 'tools/plain.mjs'), toolEntry('acme.typed', 'tools/typed.ts')];
    child = await startChild({ index: folder.write('index.json', indexOf({ tools })), node });
    for (const id of ['acme.plain', 'acme.typed']) {
      expect((await post(child.port, invoke(id, {}, WAIT))).json).toEqual({ v: 2, kind: 'pause' });
    }
  });

  test('F18: the index is the same on every Node', async () => {
    const pack = copyPack(folder, 'node-authoring', ['zod']);
    const bytes = await Promise.all(
      [node, process.execPath].map(async (runner, at) => {
        const index = folder.file(`index-${at}.json`);
        await indexPinned(pack, index, { node: runner });
        return readFileSync(index, 'utf8');
      }),
    );
    expect(bytes[0]).toBe(bytes[1]);
    expect(JSON.parse(bytes[0] ?? '')).toMatchObject({
      tools: expect.arrayContaining([
        expect.objectContaining({ id: 'authoring.approve', pauses: true }),
        expect.objectContaining({ id: 'authoring.report', storesFiles: true, readsFiles: true }),
        expect.objectContaining({ id: 'authoring.greet', input: expect.objectContaining({ type: 'object' }) }),
      ]),
    });
  });
});
