import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CodeHash } from '../../../gateway/supervisor/codeHash.ts';
import { MAX_TREE_BYTES, MAX_TREE_ENTRIES, readTree } from '../../../gateway/supervisor/packTree.ts';
import type { PackTree } from '../../../gateway/supervisor/packTree.ts';
import { linkShared, takeSnapshot as takeUntil } from '../../../gateway/supervisor/snapshot.ts';
import { temporaryFolder } from '../../support/files.ts';
import { writeFiles } from './support/packSources.ts';

const takeSnapshot = (tree: PackTree, copy: string): ReturnType<typeof takeUntil> =>
  takeUntil(tree, copy, new AbortController().signal);

/** A pack, and where its copy goes. */
function packOf(files: Readonly<Record<string, string>>) {
  const home = temporaryFolder();
  const pack = join(home, 'pack');
  const copy = join(home, 'builds', 'x', 'pack');
  mkdirSync(pack);
  writeFiles(pack, files);
  const read = (except = join(home, 'state')): Promise<PackTree> =>
    readTree(pack, { except, signal: new AbortController().signal });
  const take = async (): Promise<string | undefined> => takeSnapshot(await read(), copy);
  return { home, pack, copy, read, take };
}

const list = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();

describe('a copy of the code of a pack', () => {
  it('has its files, as they are, whatever they are called', async () => {
    const files = {
      'kindgi.config.mjs': 'a',
      'tools/deep/er/x.mjs': 'b',
      'o\'dd \n"name"; $(rm -rf ~)': 'c',
      '-rf': 'd',
      ünïcode: 'e',
      'run.sh': 'f',
      'empty/.keep': '',
    };
    const { pack, copy, take } = packOf(files);
    chmodSync(join(pack, 'run.sh'), 0o555);
    chmodSync(join(pack, 'tools'), 0o555);
    expect(await take()).toBeUndefined();
    expect(list(copy)).toEqual(list(pack));
    for (const [name, text] of Object.entries(files)) expect(readFileSync(join(copy, name), 'utf8')).toBe(text);
    expect(statSync(join(copy, 'run.sh')).mode & 0o111).toBe(0o111);
    expect(statSync(join(copy, 'run.sh')).ino).not.toBe(statSync(join(pack, 'run.sh')).ino);
    expect(readdirSync(join(copy, '..'))).toEqual(['pack']);
  });

  it('uses the packages that are installed for the pack, and the data that it writes', async () => {
    const { home, pack, copy, read, take } = packOf({
      'node_modules/dep/index.js': '',
      'workspace/node_modules/dep/index.js': '',
      '.venv/pyvenv.cfg': '',
      'other-env/pyvenv.cfg': '',
      'notes.jsonl': '1\n',
      'data/state.sqlite3': '',
    });
    mkdirSync(join(home, 'node_modules'));
    expect(await take()).toBeUndefined();
    const shared = [
      'node_modules',
      'workspace/node_modules',
      '.venv',
      'other-env',
      'notes.jsonl',
      'data/state.sqlite3',
    ];
    for (const name of shared) expect(readlinkSync(join(copy, name))).toBe(join(pack, name));
    // As in a workspace, where packages are found above the pack.
    expect(readlinkSync(join(copy, '..', 'node_modules'))).toBe(join(home, 'node_modules'));
    // What it has written since.
    writeFiles(pack, { 'data/later.log': '2\n', 'new/too.log': '' });
    await linkShared(await read(), copy);
    expect(readFileSync(join(copy, 'data/later.log'), 'utf8')).toBe('2\n');
    expect(existsSync(join(copy, 'new'))).toBe(false);
  });

  it('leaves out what is no code: histories, caches, sockets and the gateway’s own folder', async () => {
    const { pack, copy, read } = packOf({
      '.git/HEAD': '',
      '__pycache__/x.pyc': '',
      'lib/__pycache__/x.pyc': '',
      'own/deployments/x': '',
      'tool.py': '',
    });
    execFileSync('mkfifo', [join(pack, 'pipe')]);
    expect(await takeSnapshot(await read(join(pack, 'own')), copy)).toBeUndefined();
    expect(list(copy)).toEqual(['lib', 'tool.py']);
  });

  it('keeps links within the pack within the copy, and others as they are', async () => {
    const { home, pack, copy, take } = packOf({ 'a/file': 'inside', 'b/x': '' });
    writeFiles(home, { 'outside/file': 'outside' });
    symlinkSync('../a/file', join(pack, 'b', 'relative'));
    symlinkSync(join(pack, 'a'), join(pack, 'b', 'absolute'));
    symlinkSync('../../outside', join(pack, 'b', 'out'));
    symlinkSync('/no/such/place', join(pack, 'b', 'nowhere'));
    symlinkSync('.', join(pack, 'round'));
    expect(await take()).toBeUndefined();
    writeFileSync(join(copy, 'a/file'), 'of the copy');
    expect(readFileSync(join(copy, 'b/relative'), 'utf8')).toBe('of the copy');
    expect(readFileSync(join(copy, 'b/absolute/file'), 'utf8')).toBe('of the copy');
    expect(readFileSync(join(copy, 'b/out/file'), 'utf8')).toBe('outside');
    expect(readlinkSync(join(copy, 'b/nowhere'))).toBe('/no/such/place');
    expect(lstatSync(join(copy, 'round')).isSymbolicLink()).toBe(true);
  });
});

describe('there is no copy', () => {
  it.each<[what: string, change: (pack: string) => void]>([
    ['edited', (pack) => writeFileSync(join(pack, 'b.mjs'), '2')],
    ['edited to the same length and text', (pack) => writeFileSync(join(pack, 'b.mjs'), '1')],
    ['replaced', (pack) => (rmSync(join(pack, 'b.mjs')), writeFileSync(join(pack, 'b.mjs'), '1'))],
    ['removed', (pack) => rmSync(join(pack, 'b.mjs'))],
  ])('of a pack with a file that was %s since it was looked at, and it is named', async (_, change) => {
    const { pack, copy, read } = packOf({ 'a.mjs': '1', 'b.mjs': '1', 'c.mjs': '1' });
    const tree = await read();
    change(pack);
    expect(await takeSnapshot(tree, copy)).toBe('b.mjs changed while it started');
    expect(existsSync(copy) || existsSync(`${copy}.tmp`)).toBe(false);
  });

  it('of a pack whose folder is a link that leads elsewhere meanwhile', async () => {
    const { home, copy } = packOf({});
    writeFiles(home, { 'releases/1/a': '', 'releases/2/a': '' });
    const current = join(home, 'current');
    symlinkSync('releases/1', current);
    const tree = await readTree(current, { except: home + '/state', signal: new AbortController().signal });
    rmSync(current);
    symlinkSync('releases/2', current);
    expect(await takeSnapshot(tree, copy)).toBe(`${current} leads elsewhere since it started`);
  });

  it('of a pack with too many files, and looking ends there', async () => {
    const { pack, copy, read } = packOf({});
    for (let at = 0; at <= MAX_TREE_ENTRIES; at += 1) writeFileSync(join(pack, `f${at}`), '');
    const tree = await read();
    expect(await takeSnapshot(tree, copy)).toBe('its folder has more than 5000 entries');
    expect(tree.entries.length).toBeLessThanOrEqual(MAX_TREE_ENTRIES);
    rmSync(join(pack, 'f0'));
    expect((await read()).trouble).toBeUndefined();
  });

  it('of a pack with too many bytes, and they are not read', async () => {
    const { pack, read } = packOf({ big: '', small: '1' });
    truncateSync(join(pack, 'big'), MAX_TREE_BYTES);
    const tree = await read();
    expect(tree.trouble).toBe('its folder has more than 64 MiB');
    const hash = new CodeHash();
    const before = await hash.of(tree);
    expect(await hash.of(await read())).toBe(before);
    writeFileSync(join(pack, 'small'), '2');
    expect(await hash.of(await read())).not.toBe(before);
  });

  it('that is given up half-way', async () => {
    const { copy, read } = packOf(Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${at}`, ''])));
    const abort = new AbortController();
    const taking = takeUntil(await read(), copy, abort.signal);
    // Each of its steps takes a turn of the loop at least.
    while (!existsSync(join(`${copy}.tmp`, 'f0'))) await nextTurn();
    abort.abort();
    expect(await taking).toBeDefined();
    expect(existsSync(copy) || existsSync(`${copy}.tmp`)).toBe(false);
  });

  it('of a folder that is not there', async () => {
    const { pack, read, take } = packOf({});
    rmSync(pack, { recursive: true });
    expect((await read()).entries).toEqual([]);
    expect(await take()).toMatch(/^ENOENT/);
  });
});

describe('the hash of the code', () => {
  it('changes with what a start could notice, and with nothing else', async () => {
    const { pack, read } = packOf({ 'a.mjs': '1', 'lib/b.py': '2', 'log.jsonl': '' });
    symlinkSync('a.mjs', join(pack, 'link'));
    const hash = new CodeHash();
    const seen = [await hash.of(await read())];
    const changed = async (change: () => void): Promise<boolean> => {
      change();
      const now = await hash.of(await read());
      // A hash that knows nothing comes to the same.
      expect(await new CodeHash().of(await read())).toBe(now);
      return now !== seen[0];
    };
    expect(await changed(() => writeFileSync(join(pack, 'a.mjs'), '1'))).toBe(false);
    expect(await changed(() => writeFileSync(join(pack, 'log.jsonl'), 'more\n'))).toBe(false);
    expect(await changed(() => writeFiles(pack, { '__pycache__/b.pyc': 'x' }))).toBe(false);
    expect(await changed(() => chmodSync(join(pack, 'a.mjs'), 0o755))).toBe(true);
    expect(await changed(() => chmodSync(join(pack, 'a.mjs'), 0o644))).toBe(false);
    expect(await changed(() => writeFileSync(join(pack, 'a.mjs'), '2'))).toBe(true);
    expect(await changed(() => writeFileSync(join(pack, 'a.mjs'), '1'))).toBe(false);
    expect(await changed(() => writeFiles(pack, { 'new.txt': '' }))).toBe(true);
    expect(await changed(() => rmSync(join(pack, 'new.txt')))).toBe(false);
    expect(await changed(() => (rmSync(join(pack, 'link')), symlinkSync('lib', join(pack, 'link'))))).toBe(true);
  });

  it('is another for the same files in another folder: a copy is bound to the packages of its own', async () => {
    const [one, two] = [packOf({ a: '1' }), packOf({ a: '1' })];
    expect(await new CodeHash().of(await one.read())).not.toBe(await new CodeHash().of(await two.read()));
  });
});
