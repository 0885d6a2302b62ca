import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { startChild } from '../support/child.ts';
import type { Child } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { invoke, post } from '../support/http.ts';
import { copyPack, indexPinned, NODES } from './nodes.ts';

let folder: Folder;
let pack: string;
let child: Child | undefined;

beforeEach(() => {
  folder = makeFolder();
  pack = copyPack(folder, 'node-authoring-typescript');
});

afterEach(async () => {
  await child?.stop();
  child = undefined;
  folder.remove();
});

/** What each tool of the pack answers: one for each thing that plain type stripping could not load. */
const OUTPUTS: readonly (readonly [tool: string, what: string, output: unknown])[] = [
  ['paths', 'path aliases of a tsconfig that extends another', 42],
  ['enums', 'enums and const enums', [0, 'piece', 'box', 3]],
  ['decorators', 'decorators, of the kind the tsconfig says', ['Clerk.stamp', 'stamped']],
  ['properties', 'parameter properties', 3],
  ['namespaces', 'namespaces', [19, 7]],
  ['json', 'JSON imports without an attribute', 'hallo'],
  ['common', 'CommonJS, typed and plain, with its own place', ['old.cts', 'hallo', 'lib']],
  ['endings', 'imports by .js, without an ending, and of a folder', [42, 'an index file']],
  ['places', 'files beside the source, by import.meta.url', { text: '{ "hello": "hallo" }', name: 'tools/places.ts' }],
  ['later', 'imports inside a handler', 42],
];

describe.each(NODES)('a TypeScript pack on $name', ({ node }) => {
  test('F15 F18: everything of TypeScript that a bundler knows works, with no build step of the author', async () => {
    const index = folder.file('index.json');
    await indexPinned(pack, index, { node });
    child = await startChild({ index, moduleRoot: pack, node });
    const answers: unknown[] = [];
    for (const [tool, what] of OUTPUTS) {
      const { json } = await post(child.port, invoke(`features.${tool}`));
      answers.push([tool, what, json.output]);
    }
    expect(answers).toEqual(OUTPUTS);
    const tools = readdirSync(join(pack, 'tools')).map((name) => name.replace('.ts', ''));
    expect(tools.sort()).toEqual([...OUTPUTS.map(([tool]) => tool), 'stack'].sort());
  });

  test('F18 D21 D22: a stack trace names file, line and function of the sources', async () => {
    const index = folder.file('index.json');
    await indexPinned(pack, index, { node });
    child = await startChild({ index, moduleRoot: pack, node });
    const { json } = await post(child.port, invoke('features.stack'));
    const stack = (json.cause as { stack: string }).stack.split('\n');
    const lineOf = (file: string, text: string): number =>
      readFileSync(join(pack, file), 'utf8')
        .split('\n')
        .findIndex((line) => line.includes(text)) + 1;
    expect(stack[0]).toBe('Error: asked to');
    expect(stack[1]).toMatch(
      new RegExp(`^ +at refuse \\(lib/refuse\\.ts:${lineOf('lib/refuse.ts', 'throw')}:\\d+\\)$`),
    );
    expect(stack[2]).toMatch(new RegExp(`tools/stack\\.ts:${lineOf('tools/stack.ts', 'return refuse')}:\\d+\\)?$`));
    expect(stack).toHaveLength(3);
  });

  test('E13 F16 F18: how the modules were loaded is not to be seen in the index', async () => {
    const built = folder.file('built');
    // An author's own build, named by a bundle map, without our loader.
    const tools = readdirSync(join(pack, 'tools'));
    cpSync(join(pack, 'data'), join(built, 'data'), { recursive: true });
    await build({
      absWorkingDir: pack,
      entryPoints: tools.map((name) => `tools/${name}`),
      outbase: pack,
      outdir: built,
      outExtension: { '.js': '.cjs' },
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'silent',
    });
    const map = folder.write(
      'bundle-map.json',
      Object.fromEntries(
        tools.map((name) => [`tools/${name}`, join(built, 'tools', name.replace('.ts', '.cjs'))] as const),
      ),
    );
    const ways = {
      temporary: { node },
      kept: { node, env: { PACKGATE_BUILD_DIR: folder.file('kept') } },
      again: { node, env: { PACKGATE_BUILD_DIR: folder.file('kept') } },
      mapped: { node, args: ['--bundle-map', map, '--module-root', pack] },
      here: { node: process.execPath },
    };
    const texts = new Set<string>();
    for (const [name, options] of Object.entries(ways)) {
      const index = folder.file(`${name}.json`);
      await indexPinned(pack, index, options);
      texts.add(readFileSync(index, 'utf8'));
    }
    expect(texts.size).toBe(1);
    expect([...texts][0]).toContain('"modulePath": "tools/enums.ts"');
  });
});
