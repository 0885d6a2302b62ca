import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { CHILD_MAIN } from '../child/support/child.ts';
import { findRealServices, requiresRealServices } from '../support/realServices.ts';

export type Entry = Readonly<Record<string, unknown>> & { readonly id: string };

/** What an indexer made of a pack. */
export interface Indexed {
  /** The index file's bytes as text. */
  readonly text: string;
  readonly index: Readonly<Record<'tools' | 'guardrails' | 'agents' | 'flows', readonly Entry[]>>;
  readonly indexPath: string;
  /** `code: path` of each file that was left out, sorted. */
  readonly refused: readonly string[];
  /** `code: path` of each warning, sorted. */
  readonly warned: readonly string[];
}

/** Command and first arguments of our indexer. */
export const OUR_INDEXER: readonly string[] = [process.execPath, CHILD_MAIN, 'index'];

/** The real indexers; nothing where they are not installed. */
export function realIndexer(language: 'node' | 'python'): readonly string[] {
  const real = findRealServices();
  if (!real.isFound) return [];
  return language === 'node' ? real.nodeIndexer : [real.python, '-m', 'kindgi.pack', 'index'];
}

/** Whether tests against the real services have to be skipped, and what their names end in then. */
export function realMissing(): { readonly isSkipped: boolean; readonly suffix: string } {
  const real = findRealServices();
  if (real.isFound || requiresRealServices()) return { isSkipped: false, suffix: '' };
  return { isSkipped: true, suffix: ` – skipped: ${real.reason}` };
}

/** Several programs in a row, on a machine that may be busy. */
export const SLOW = { timeout: 120_000 };

const folders: string[] = [];

/** A folder that goes with `removeFolders`. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'packgate-index-'));
  folders.push(folder);
  return folder;
}

export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

interface Reported {
  readonly code: string;
  readonly filePath: string;
}

/** Runs an indexer over a pack with version and time pinned (E13). Nothing is written into the pack's folder. */
export async function runIndexer(
  indexer: readonly string[],
  pack: string,
  args: readonly string[] = [],
): Promise<Indexed> {
  const [command = '', ...first] = indexer;
  const indexPath = join(newFolder(), 'index.json');
  const pinned = ['--artifact-version', '20250101.1', '--published-at', '2025-01-01T00:00:00.000Z'];
  const { stdout } = await promisify(execFile)(
    command,
    [...first, '--pack-dir', pack, '--output', indexPath, ...pinned, ...args],
    { env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' }, maxBuffer: 16 * 1024 * 1024 },
  );
  const report = JSON.parse(stdout) as { fileErrors: Reported[]; warnings: Reported[] };
  const listed = (list: readonly Reported[]): string[] =>
    list.map(({ code, filePath }) => `${code}: ${filePath}`).sort();
  const text = readFileSync(indexPath, 'utf8');
  return {
    text,
    index: JSON.parse(text) as Indexed['index'],
    indexPath,
    refused: listed(report.fileErrors),
    warned: listed(report.warnings),
  };
}
