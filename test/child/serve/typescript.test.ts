import { existsSync, readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { indexPack, packFolder, problemsOf, startChild } from '../support/child.ts';
import type { Child } from '../support/child.ts';
import { indexOf, makeFolder, toolEntry } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { checkInvoke, invoke, post } from '../support/http.ts';

const PACK = packFolder('node-typescript');

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

/** Every path below a folder, sorted. */
function filesIn(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
}

async function serveTyped(env: Record<string, string> = {}): Promise<number> {
  const index = folder.file('index.json');
  await indexPack(PACK, index);
  child = await startChild({ index, moduleRoot: PACK, env });
  return child.port;
}

describe('a TypeScript pack without a build step', () => {
  test('F18: enums, path aliases, imports by .js, shared modules and files beside the source work', async () => {
    const port = await serveTyped();
    const first = await post(port, invoke('typed.greet', { shout: true }));
    expect(first.json).toEqual({
      v: 2,
      kind: 'result',
      output: { text: 'HELLO WORLD', unit: 'piece', count: 1, url: new URL(`file://${PACK}/tools/greet.ts`).href },
    });
    await post(port, invoke('typed.greet', { name: 'Ada' }));
    // One counter for both tools: what they share is loaded once.
    expect((await post(port, invoke('typed.count'))).json).toMatchObject({ output: 2 });
    const check = checkInvoke('typed.checks.polite', { words: ['please'] }, { text: 'yes please' });
    expect((await post(port, check)).json).toMatchObject({ result: { passed: true } });
  });

  test('F18 D22: stack traces name the lines of the sources', async () => {
    const port = await serveTyped();
    const { json } = await post(port, invoke('typed.greet', { name: 'fail' }));
    const { stack } = json.cause as { stack: string };
    expect(stack).toMatch(/at fail \(tools\/_fail\.ts:3:\d+\)/);
    expect(stack).toMatch(/at .*handler.* \(tools\/greet\.ts:\d+:\d+\)/);
    expect(stack).not.toContain(folder.path);
  });

  test('F18: what is built lies in the given folder, never in the pack, and is reused by the next start', async () => {
    const before = readdirSync(PACK).sort();
    const buildDir = folder.file('build');
    await serveTyped({ PACKGATE_BUILD_DIR: buildDir });
    const built = filesIn(buildDir);
    expect(built.some((name) => /^tools\/greet-[A-Z0-9]+\.mjs$/.test(name))).toBe(true);
    expect(readdirSync(PACK).sort()).toEqual(before);
    await child?.stop();
    const port = await serveTyped({ PACKGATE_BUILD_DIR: buildDir });
    expect(filesIn(buildDir)).toEqual(built);
    expect((await post(port, invoke('typed.count'))).json).toMatchObject({ output: 0 });
  });

  test('F18: a temporary build folder goes with the process', async () => {
    await serveTyped({ TMPDIR: folder.path });
    const builds = (): string[] => readdirSync(folder.path).filter((name) => name.startsWith('packgate-child-'));
    expect(builds()).toHaveLength(1);
    child?.kill('SIGTERM');
    await child?.exit;
    expect(builds()).toEqual([]);
  });

  test('C13: a build folder that cannot be written is told for each module', async () => {
    folder.write('tools/one.ts', 'export default { handler: (): number => 1 };');
    folder.write('file', '');
    const index = folder.write('index.json', indexOf({ tools: [toolEntry('acme.one', 'tools/one.ts')] }));
    const { problems } = await problemsOf({ index, env: { PACKGATE_BUILD_DIR: folder.file('file/build') } });
    expect(problems).toEqual([expect.stringMatching(/^acme\.one: tools\/one\.ts: .*cannot be built: ENOTDIR/)]);
  });

  test('F18: a package is the one Node would load, once for TypeScript and plain modules', async () => {
    folder.write('node_modules/state/package.json', {
      exports: { import: './state.mjs', require: './state.cjs', module: './no.mjs' },
    });
    folder.write('node_modules/state/state.mjs', 'export const state = { hits: 0 };');
    folder.write('node_modules/state/state.cjs', 'exports.state = { hits: 100 };');
    const code = `import { state } from 'state'; export default { handler: () => ++state.hits };`;
    folder.write('tools/plain.mjs', code);
    folder.write('tools/typed.ts', code);
    folder.write(
      'lib/old.cjs',
      `module.exports = { sep: require('node:path').sep, hits: require('state').state.hits };`,
    );
    folder.write('tools/mixed.mts', `import old from '../lib/old.cjs'; export default { handler: (): object => old };`);
    const tools = ['plain.mjs', 'typed.ts', 'mixed.mts'].map((name) =>
      toolEntry(`acme.${name.split('.')[0]}`, `tools/${name}`),
    );
    child = await startChild({ index: folder.write('index.json', indexOf({ tools })) });
    expect((await post(child.port, invoke('acme.plain'))).json).toMatchObject({ output: 1 });
    expect((await post(child.port, invoke('acme.typed'))).json).toMatchObject({ output: 2 });
    expect((await post(child.port, invoke('acme.mixed'))).json).toMatchObject({ output: { sep: '/', hits: 100 } });
  });

  test('F18: a pack reached through a link is served as well', async () => {
    folder.write('real/tools/one.ts', 'export default { handler: (): string => import.meta.url };');
    const index = folder.write('index.json', indexOf({ tools: [toolEntry('acme.one', 'tools/one.ts')] }));
    const { symlinkSync } = await import('node:fs');
    symlinkSync(folder.file('real'), folder.file('link'));
    child = await startChild({ index, moduleRoot: folder.file('link') });
    expect((await post(child.port, invoke('acme.one'))).json).toMatchObject({
      output: `file://${folder.file('real')}/tools/one.ts`,
    });
    expect(existsSync(folder.file('real/tools/one.ts'))).toBe(true);
  });

  test('C13: a package that is missing is told with the file that asks for it', async () => {
    folder.write('tools/one.ts', `import 'no-such-package';\nexport default { handler: () => 1 };`);
    const index = folder.write('index.json', indexOf({ tools: [toolEntry('acme.one', 'tools/one.ts')] }));
    const { problems } = await problemsOf({ index });
    expect(problems).toEqual([expect.stringMatching(/^acme\.one: .*tools\/one\.ts:1:\d+: .*"no-such-package"/)]);
  });
});
