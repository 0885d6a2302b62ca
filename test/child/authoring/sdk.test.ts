import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { findRealServices, requiresRealServices } from '../../support/realServices.ts';
import { startChild } from '../support/child.ts';
import type { Child } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { checkInvoke, invoke, post } from '../support/http.ts';
import { copyPack, indexPinned, install, NODES, PINNED } from './nodes.ts';

const real = findRealServices();

/** The `node_modules` of the wheel that has the existing SDK: four folders above its runtime's `dist`. */
function wheelModules(): string {
  const [, indexer = ''] = real.isFound ? real.nodeIndexer : [];
  return dirname(dirname(dirname(dirname(indexer))));
}

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

if (!real.isFound && requiresRealServices()) throw new Error(real.reason);
if (!real.isFound) process.stderr.write(`skipped: packs of the existing SDK: ${real.reason}\n`);

describe.skipIf(!real.isFound).each(NODES)('a pack written for the existing SDK, on $name', ({ node }) => {
  test('F1 F3 F4 F8 F9 E13: is indexed to the same bytes as by the real indexer, and runs unchanged', async () => {
    const pack = copyPack(folder, 'node-authoring-sdk');
    for (const name of ['@kindgi', 'zod']) install(pack, name, join(wheelModules(), name));
    const ours = folder.file('ours.json');
    await indexPinned(pack, ours, { node });
    const theirs = folder.file('theirs.json');
    if (!real.isFound) throw new Error(real.reason);
    const [command, ...args] = real.nodeIndexer;
    await promisify(execFile)(command, [...args, '--pack-dir', pack, '--output', theirs, '--strict', ...PINNED]);
    expect(readFileSync(ours, 'utf8')).toBe(readFileSync(theirs, 'utf8'));

    child = await startChild({ index: ours, moduleRoot: pack, node });
    const { port } = child;
    const call = async (tool: string): Promise<unknown> =>
      (await post(port, invoke(`sdk.${tool}`, { name: 'Ada' }))).json.output;
    const greeting = { text: 'Hello ADA', tenant: 'tenant-a' };
    expect(await call('result')).toEqual(greeting);
    expect(await call('value')).toEqual(greeting);
    expect(await call('typed')).toEqual(greeting);
    expect(await call('schema')).toBe('Ada');
    expect((await post(port, invoke('sdk.result', { name: '' }))).json).toMatchObject({
      code: 'input-validation-failed',
    });
    const check = checkInvoke('sdk.checks.short', { most: 3 }, { output: 'long' });
    expect((await post(port, check)).json).toMatchObject({ result: { passed: false, reason: '4 of 3' } });
  });
});
