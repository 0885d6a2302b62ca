import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPacks, isPassedOver, MAX_DEPTH } from '../../../gateway/dev/find.ts';
import { temporaryFolder } from '../../support/files.ts';

const PYTHON = '[tool.kindgi.pack]\nid = "p"\n';

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function namesIn(...roots: readonly string[]): Promise<string[]> {
  return (await findPacks(roots)).map(({ name, kind }) => `${name}: ${kind}`);
}

describe('looking for packs', () => {
  it('finds Node, TypeScript and Python packs, and the searched folder itself', async () => {
    const folder = folderWith({
      'a/kindgi.config.ts': '',
      'b/kindgi.config.mjs': '',
      'c/pyproject.toml': PYTHON,
      'd/pyproject.toml': '[project]\nname = "no pack"\n',
      'e/kindgi.config.json': '{}',
    });
    expect(await namesIn(folder)).toEqual(['a: node', 'b: node', 'c: python']);
    expect(await namesIn(join(folder, 'c'))).toEqual(['c: python']);
  });

  it('passes over what is installed, built or hidden, and what lies in a pack', async () => {
    const folder = folderWith({
      'a/kindgi.config.ts': '',
      'a/examples/b/kindgi.config.ts': '',
      'node_modules/c/kindgi.config.ts': '',
      'dist/d/kindgi.config.ts': '',
      '.venv/e/kindgi.config.ts': '',
      '.git/f/kindgi.config.ts': '',
    });
    expect(await namesIn(folder)).toEqual(['a: node']);
  });

  it('looks down a bounded way', async () => {
    const path = (depth: number): string => Array.from({ length: depth }, (_, at) => `d${at}`).join('/');
    const folder = folderWith({
      [`${path(MAX_DEPTH - 1)}/near/kindgi.config.ts`]: '',
      [`${path(MAX_DEPTH)}/far/kindgi.config.ts`]: '',
    });
    expect(await namesIn(folder)).toEqual(['near: node']);
  });

  it('names packs by as much of their paths as tells them apart', async () => {
    const folder = folderWith({
      'x/crm/kindgi.config.ts': '',
      'y/crm/kindgi.config.ts': '',
      'billing/kindgi.config.ts': '',
    });
    expect(await namesIn(folder)).toEqual(['billing: node', 'x/crm: node', 'y/crm: node']);
  });

  it('takes a pack that is reached in two ways for one', async () => {
    const folder = folderWith({ 'a/kindgi.config.ts': '' });
    symlinkSync(join(folder, 'a'), join(folder, 'link'));
    expect(await namesIn(folder, join(folder, 'a'), join(folder, 'link'))).toEqual(['a: node']);
  });

  it('finds nothing where nothing can be read', async () => {
    expect(await namesIn('/nowhere/at/all')).toEqual([]);
  });
});

describe('what is passed over', () => {
  it.each(['node_modules', '.git', '__pycache__', 'x.pyc', 'notes.db-wal', 'run.log', 'a.ts~', '.a.ts.swp'])(
    '%s',
    (name) => {
      expect(isPassedOver(name)).toBe(true);
    },
  );

  it.each(['tools', 'a.ts', '.env', 'data.json', 'catalog.md', 'dist.ts'])('not %s', (name) => {
    expect(isPassedOver(name)).toBe(false);
  });
});
