import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_INDEX_BYTES } from '../../../gateway/supervisor/indexFile.ts';
import { readJsonLines, until } from '../../support/files.ts';
import { processesMentioning } from '../../support/processes.ts';
import { PackSources, WRITE_SPEC, indexText, servedIndex, writeFiles, writeIndexer } from './support/packSources.ts';

const CONFIGURED = { 'index.json': indexText(), 'tool.mjs': 'export {};\n' };

/** A pack with a configured index. */
function configured(): { sources: PackSources; index: string } {
  const sources = new PackSources(CONFIGURED);
  const index = join(sources.pack, 'index.json');
  return { sources: sources.with({ index }), index };
}

/** A pack that is indexed by this script. */
function indexedBy(script: string): PackSources {
  const sources = new PackSources({ 'spec.json': indexText() });
  const node = writeIndexer(join(sources.home, 'indexer'), script);
  return sources.with({ runtime: { kind: 'node', node } });
}

/** What is in the deployment's folder, but for what our child would build. */
const builds = ({ folder }: PackSources): string[] => readdirSync(folder.buildsDir);
const left = ({ folder }: PackSources): string[] =>
  readdirSync(folder.path).filter((name) => name.startsWith('indexing-'));

describe('a configured index', () => {
  it('is served as it was when it was read, whatever becomes of the file', async () => {
    const { sources, index } = configured();
    const first = await sources.serve();
    expect(first.index.path.startsWith(sources.folder.buildsDir)).toBe(true);
    const other = indexText({ packVersion: '2.0.0' });
    writeFileSync(index, other);
    const again = await sources.serve(false);
    expect([again.build, servedIndex(again)]).toEqual([first.build, CONFIGURED['index.json']]);
    const fresh = await sources.serve();
    expect(fresh.build).not.toBe(first.build);
    expect([servedIndex(fresh), servedIndex(first)]).toEqual([other, CONFIGURED['index.json']]);
    expect(fresh.index).toMatchObject({ packId: 'p', packVersion: '2.0.0', artifactVersion: '20250101.1' });
  });

  it('is refused when it is not the one whose hash is configured, with both hashes', async () => {
    const { sources, index } = configured();
    const { hash } = (await sources.serve()).index;
    sources.with({ index, indexHash: hash });
    expect((await sources.serve()).index.hash).toBe(hash);
    writeFileSync(index, indexText({ packVersion: '2.0.0' }));
    await expect(sources.prepare()).rejects.toMatchObject({
      code: 'index-failed',
      message: expect.stringMatching(new RegExp(`expected ${hash}, found sha256:[0-9a-f]{64}$`)) as string,
    });
    expect(builds(sources)).toHaveLength(1);
    expect(servedIndex(await sources.serve(false))).toBe(CONFIGURED['index.json']);
  });

  const hostile: [what: string, why: RegExp, make: (path: string) => void][] = [
    ['is not there', /ENOENT/, (path) => rmSync(path)],
    ['is empty', /is not JSON/, (path) => writeFileSync(path, '')],
    ['is cut', /is not JSON/, (path) => writeFileSync(path, indexText().slice(0, -10))],
    ['is a list', /version 1/, (path) => writeFileSync(path, '[1]')],
    ['is null', /is not a JSON object/, (path) => writeFileSync(path, 'null')],
    ['is of another version', /version 1/, (path) => writeFileSync(path, indexText({ v: 2 }))],
    ['has no packId', /has no packId/, (path) => writeFileSync(path, indexText({ packId: undefined }))],
    ['has a packId that is none', /has no packId/, (path) => writeFileSync(path, indexText({ packId: 7 }))],
    ['is nested without end', /deeper than 512/, (path) => writeFileSync(path, `{"v":${'['.repeat(100_000)}`)],
    ['is huge', /has more than 16777216 bytes/, (path) => truncateSync(path, MAX_INDEX_BYTES + 1)],
    ['is a folder', /is not a file/, (path) => (rmSync(path), writeFiles(path, { x: '' }))],
    ['is a pipe', /is not a file/, (path) => (rmSync(path), execFileSync('mkfifo', [path]))],
    ['is a device', /is not a file/, (path) => (rmSync(path), symlinkSync('/dev/zero', path))],
  ];
  it.each(hostile)('that %s is refused, and what was served before still is', async (_, why, make) => {
    const { sources, index } = configured();
    const before = await sources.serve();
    make(index);
    const message = expect.stringMatching(why) as string;
    await expect(sources.prepare()).rejects.toMatchObject({ step: 'index', code: 'index-failed', message });
    expect(servedIndex(await sources.serve(false))).toBe(CONFIGURED['index.json']);
    expect(builds(sources)).toEqual([before.build]);
  });
});

describe('an index that is built here', () => {
  it('is the same build, with the same bytes, when nothing has changed', async () => {
    const sources = new PackSources({});
    sources.copyFixture('node-calls');
    const first = await sources.serve();
    const bytes = servedIndex(first);
    utimesSync(join(sources.pack, 'kindgi.config.mjs'), 1, 1);
    const second = await sources.serve();
    expect(second.build).toBe(first.build);
    sources.open();
    const third = await sources.serve();
    expect([third.build, servedIndex(third)]).toEqual([first.build, bytes]);
    expect(builds(sources)).toEqual([first.build]);
    expect(left(sources)).toEqual([]);
  });

  it('counts on from the version that is served when the pack has changed', async () => {
    const sources = new PackSources({});
    sources.copyFixture('node-calls');
    const first = await sources.serve();
    const config = readFileSync(join(sources.pack, 'kindgi.config.mjs'), 'utf8');
    const second = await sources.change({
      'kindgi.config.mjs': config.replace(/version: '[^']*'/, "version: '9.9.9'"),
    });
    expect(second.index.packVersion).toBe('9.9.9');
    const [, day, number] = /^(\d+)\.(\d+)$/.exec(first.index.artifactVersion) ?? [];
    expect(second.index.artifactVersion).toBe(`${day}.${Number(number) + 1}`);
  });

  it('is another build when only code has changed', async () => {
    const sources = indexedBy(WRITE_SPEC);
    const first = await sources.change({ 'lib/deep/help er.mjs': 'export const a = 1;\n' });
    const second = await sources.change({ 'lib/deep/help er.mjs': 'export const a = 2;\n' });
    expect(second.build).not.toBe(first.build);
    expect(second.index.hash).toBe(first.index.hash);
  });

  it('cannot be had when the indexer fails, says so, and what was served before still is', async () => {
    const sources = indexedBy(WRITE_SPEC);
    const before = await sources.serve();
    writeIndexer(
      join(sources.home, 'indexer'),
      `fs.writeFileSync(output, '{"v":1,'); process.kill(process.pid, 'SIGKILL');`,
    );
    await expect(sources.prepare()).rejects.toMatchObject({
      step: 'index',
      code: 'index-failed',
      message: 'the pack cannot be indexed: signal SIGKILL',
    });
    expect(servedIndex(await sources.serve(false))).toBe(indexText());
    expect([builds(sources), left(sources)]).toEqual([[before.build], []]);
  });

  it('is refused when its indexer says that all is well and wrote half of it', async () => {
    const sources = indexedBy(`fs.writeFileSync(output, '{"v":1,'); done();`);
    await expect(sources.prepare()).rejects.toMatchObject({ code: 'index-failed' });
    expect([builds(sources), left(sources)]).toEqual([[], []]);
  });

  it('is refused when another one is configured by its hash', async () => {
    const sources = indexedBy(WRITE_SPEC);
    const { hash } = (await sources.serve()).index;
    const { runtime } = sources.settings;
    sources.with({ runtime, indexHash: hash });
    expect((await sources.serve()).index.hash).toBe(hash);
    writeFiles(sources.pack, { 'spec.json': indexText({ packVersion: '2.0.0' }) });
    await expect(sources.prepare()).rejects.toMatchObject({ code: 'index-failed' });
  });

  it('takes an indexer that prints more than is kept', async () => {
    const flood = `process.stdout.write('x'.repeat(3e6) + '\\n'); for (let i = 0; i < 5000; i++) fs.writeSync(2, 'e\\n');`;
    expect((await indexedBy(flood + WRITE_SPEC).prepare()).index.packId).toBe('p');
  });

  it('is given up with everything its indexer started, also in the middle of the file', async () => {
    const sources = indexedBy(
      `fs.writeFileSync(output, '{"v":1,');
       require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)', output], { stdio: 'inherit' });
       setInterval(() => {}, 1e6);`,
    );
    for (let round = 0; round < 5; round += 1) {
      const abort = new AbortController();
      const preparing = sources.prepare(true, abort.signal);
      await until('both run', () => processesMentioning(sources.stateDir).length === 2);
      abort.abort();
      await expect(preparing).rejects.toMatchObject({ step: 'index', code: 'cancelled' });
      await until('none is left', () => processesMentioning(sources.stateDir).length === 0, 500);
      expect([builds(sources), left(sources)]).toEqual([[], []]);
    }
  });

  it('is given up without an indexer being launched when it is cancelled before it came to that', async () => {
    const sources = indexedBy(WRITE_SPEC);
    const abort = new AbortController();
    const preparing = sources.prepare(true, abort.signal);
    // Its turn has come, and it is about to make its folder.
    for (let tick = 0; tick < 10; tick += 1) await Promise.resolve();
    abort.abort();
    await expect(preparing).rejects.toMatchObject({ code: 'cancelled' });
    await sources.source.settled();
    expect(sources.launched).toEqual([]);
  });

  it('writes nothing into the folder of the pack', async () => {
    const sources = new PackSources({});
    sources.copyFixture('node-typescript');
    const files = (): string[] => readdirSync(sources.pack, { recursive: true, encoding: 'utf8' }).toSorted();
    const before = files();
    await sources.serve();
    expect(files()).toEqual(before);
  });
});

describe('orders', () => {
  it('are carried out one after the other, and one that is given up while it waits ends at once', async () => {
    const sources = indexedBy(
      `const note = (what) => fs.appendFileSync('notes.jsonl', JSON.stringify([what, process.pid]) + '\\n');
       note('begins'); setTimeout(() => { note('ends'); ${WRITE_SPEC} }, 200);`,
    );
    const abort = new AbortController();
    const first = sources.prepare();
    const waiting = sources.prepare(true, abort.signal);
    const last = sources.prepare();
    await until('the first is indexed', () => sources.launched.length === 1);
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    expect(readJsonLines(join(sources.pack, 'notes.jsonl')).length).toBeLessThan(2);
    const [one, two] = await Promise.all([first, last]);
    expect(one.build).toBe(two.build);
    const notes = readJsonLines<[string, number]>(join(sources.pack, 'notes.jsonl')).map(([what]) => what);
    expect(notes).toEqual(['begins', 'ends', 'begins', 'ends']);
  });

  it('to start what serves again look at the folder when its settings are others than it was made by', async () => {
    const { sources, index } = configured();
    const first = await sources.serve();
    const other = join(sources.home, 'other.json');
    writeFileSync(other, indexText({ packId: 'q' }));
    sources.source.update({ ...sources.settings, index: other });
    expect((await sources.prepare(false)).index.packId).toBe('q');
    sources.source.update({ ...sources.settings, index, concurrency: 9 });
    expect(await sources.prepare(false)).toMatchObject({ build: first.build, concurrency: 9 });
  });

  it('that find what serves gone make it anew, and say so', async () => {
    const { sources } = configured();
    const first = await sources.serve();
    rmSync(sources.folder.path, { recursive: true });
    // Nothing of ours removes it while the gateway runs; somebody else may.
    await expect(sources.prepare(false)).resolves.toMatchObject({ build: first.build });
    expect(sources.logged('build-lost')).toHaveLength(1);
  });
});

describe('a state folder that cannot be written', () => {
  it('is a failed start that says so, and leaves no half-written file: a full disk', async () => {
    const { sources } = configured();
    const { index, build } = await sources.serve();
    rmSync(index.path);
    const half = `${index.path}.tmp`;
    symlinkSync('/dev/full', half);
    await expect(sources.prepare()).rejects.toMatchObject({
      step: 'index',
      code: 'index-failed',
      message: expect.stringMatching(/^the index cannot be kept in .*: ENOSPC: no space left on device/) as string,
    });
    expect(readdirSync(dirname(half))).not.toContain('index.json.tmp');
    // Room again.
    expect((await sources.prepare()).build).toBe(build);
  });

  it('is a failed start that says so: a file in its place', async () => {
    const { sources } = configured();
    writeFileSync(sources.stateDir, '');
    await expect(sources.prepare()).rejects.toMatchObject({
      code: 'index-failed',
      message: expect.stringContaining('ENOTDIR') as string,
    });
  });
});
