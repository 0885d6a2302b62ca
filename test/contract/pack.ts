import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ExpectedInfo, Hold, PackIndex } from '../../shared/conform/service.ts';

/** The conformance pack in one language, with its index built by that language's own indexer. */
export interface BuiltPack {
  /** Absolute path of its folder. */
  readonly dir: string;
  readonly indexPath: string;
  readonly index: PackIndex;
  readonly expectedInfo: ExpectedInfo;
}

export function packDir(name: 'conformance-js' | 'conformance-ts' | 'conformance-python'): string {
  return join(import.meta.dirname, '..', 'fixtures', 'packs', name);
}

/** Builds the index of the pack in `dir` into `folder`. `indexer`: command and first arguments. */
export async function buildPack(
  dir: string,
  folder: string,
  [command = '', ...args]: readonly string[],
): Promise<BuiltPack> {
  const indexPath = join(folder, 'index.json');
  const settings = ['--artifact-version', '20250101.1', '--published-at', '2025-01-01T00:00:00.000Z'];
  const { stdout } = await promisify(execFile)(
    command,
    [...args, '--pack-dir', dir, '--output', indexPath, ...settings],
    { cwd: folder, env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' } },
  );
  const { fileErrors } = JSON.parse(stdout) as { fileErrors: unknown[] };
  assert.deepEqual(fileErrors, [], 'files of the conformance pack that could not be indexed');
  const bytes = readFileSync(indexPath);
  const index = JSON.parse(bytes.toString()) as PackIndex;
  return { dir, indexPath, index, expectedInfo: expectedInfoOf(index, bytes) };
}

let holds = 0;

/** A file in `folder` that is not there until it is released. */
export function newHold(folder: string): Hold {
  holds += 1;
  const path = join(folder, `release-${holds}`);
  return { path, release: () => writeFileSync(path, '') };
}

function expectedInfoOf(index: PackIndex, bytes: Buffer): ExpectedInfo {
  return {
    packId: text(index, 'packId'),
    packVersion: text(index, 'packVersion'),
    artifactVersion: text(index, 'artifactVersion'),
    indexHash: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    tools: index.tools.map((tool) => ({ id: tool.id, version: text(tool, 'version') })),
    checks: index.guardrails.map((guardrail) => text(guardrail, 'checkId')),
  };
}

function text(of: Readonly<Record<string, unknown>>, key: string): string {
  const value = of[key];
  assert.ok(typeof value === 'string', `${key} is a text`);
  return value;
}
