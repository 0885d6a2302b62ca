import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readPack } from '../../gateway/cli/conform/conformancePack.ts';
import type { ConformancePack } from '../../gateway/cli/conform/conformancePack.ts';

export function packDir(name: 'conformance-js' | 'conformance-ts' | 'conformance-python'): string {
  return join(import.meta.dirname, '..', 'fixtures', 'packs', name);
}

/** Builds the index of the pack in `dir` into `folder` with its language's own indexer: command and first arguments. */
export async function buildPack(
  dir: string,
  folder: string,
  [command = '', ...args]: readonly string[],
): Promise<ConformancePack> {
  const indexPath = join(folder, 'index.json');
  const settings = ['--artifact-version', '20250101.1', '--published-at', '2025-01-01T00:00:00.000Z'];
  const { stdout } = await promisify(execFile)(
    command,
    [...args, '--pack-dir', dir, '--output', indexPath, ...settings],
    { cwd: folder, env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' } },
  );
  const { fileErrors } = JSON.parse(stdout) as { fileErrors: unknown[] };
  assert.deepEqual(fileErrors, [], 'files of the conformance pack that could not be indexed');
  return readPack(dir, indexPath);
}
