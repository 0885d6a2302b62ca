import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { copyPack, install, PACKAGE } from './nodes.ts';

const TSC = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));

let folder: Folder;
let pack: string;

beforeEach(() => {
  folder = makeFolder();
  pack = copyPack(folder, 'node-authoring', ['zod', '@types/node']);
});

afterEach(() => folder.remove());

function typeCheck(...args: readonly string[]): { status: number | null; stdout: string } {
  return spawnSync(process.execPath, [TSC, '-p', pack, ...args], { encoding: 'utf8', timeout: 60_000 });
}

describe('the types of packgate/pack', () => {
  test('F1 F3 D30 D46 D48: a pack is typed by the installed package alone, and mistakes are found', () => {
    install(pack, 'packgate', PACKAGE);
    // `types/wrong.ts` expects an error in each line that has one to find; a missing one is an error, too.
    expect(typeCheck()).toMatchObject({ stdout: '', status: 0 });
    expect(typeCheck('--module', 'esnext', '--moduleResolution', 'bundler')).toMatchObject({ stdout: '', status: 0 });
  });

  test('F1: without the package there would be errors, so the check above says something', () => {
    rmSync(join(pack, 'types'), { recursive: true });
    const { status, stdout } = typeCheck();
    expect(status).not.toBe(0);
    expect(stdout).toContain("Cannot find module 'packgate/pack'");
  });
});
