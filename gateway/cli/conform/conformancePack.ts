import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { ExpectedInfo, IndexEntry, PackIndex, Target } from '../../../shared/conform/service.ts';

/** The conformance pack in some language, with its index. */
export interface ConformancePack {
  /** Absolute path of its folder. */
  readonly dir: string;
  readonly indexPath: string;
  readonly index: PackIndex;
  readonly expectedInfo: ExpectedInfo;
  readonly traits: Target['traits'];
}

/**
 * Reads the pack in `dir` with the index that was built of it.
 * @throws {Error} when the file is not an index: what is wrong with it.
 */
export function readPack(dir: string, indexPath: string): ConformancePack {
  const bytes = readFileSync(indexPath);
  // As a stack trace would name it, whatever links led here.
  const packDir = realpathSync(dir);
  const index = asIndex(JSON.parse(bytes.toString('utf8')));
  return { dir: packDir, indexPath, index, expectedInfo: expectedInfoOf(index, bytes), traits: traitsOf(packDir) };
}

function asIndex(value: unknown): PackIndex {
  const index = value as Partial<PackIndex> | null;
  for (const list of ['tools', 'guardrails'] as const) {
    const entries: unknown = index?.[list];
    if (!Array.isArray(entries)) throw new Error(`it has no list "${list}"`);
    for (const entry of entries as unknown[]) {
      if (typeof (entry as IndexEntry | null)?.id !== 'string') throw new Error(`an entry of "${list}" has no id`);
    }
  }
  return value as PackIndex;
}

function expectedInfoOf(index: PackIndex, bytes: Buffer): ExpectedInfo {
  return {
    packId: text(index, 'packId'),
    packVersion: text(index, 'packVersion'),
    artifactVersion: text(index, 'artifactVersion'),
    indexHash: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    tools: index.tools.map((tool) =>
      tool.version === undefined ? { id: tool.id } : { id: tool.id, version: text(tool, 'version') },
    ),
    checks: index.guardrails
      .filter(({ checkBuiltIn }) => checkBuiltIn !== true)
      .map(({ checkId, id }) => (typeof checkId === 'string' ? checkId : id)),
  };
}

function text(of: Readonly<Record<string, unknown>>, key: string): string {
  const value = of[key];
  if (typeof value !== 'string') throw new Error(`"${key}" is no text`);
  return value;
}

/** The modules in its folder `broken`, by their names without ending: `import-fails.mjs`, `import_fails.py`. */
function traitsOf(dir: string): Target['traits'] {
  const folder = join(dir, 'broken');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const find = (wanted: string): string | undefined => {
    const name = names.find((file) => file.replace(/\.[^.]*$/, '').replaceAll('_', '-') === wanted);
    return name === undefined ? undefined : `broken/${name}`;
  };
  return {
    importFails: find('import-fails'),
    noHandler: find('no-handler'),
    exits: find('exits'),
    slow: find('slow'),
  };
}
