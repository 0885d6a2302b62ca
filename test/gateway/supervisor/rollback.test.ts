import { existsSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RuntimeSettings } from '../../../gateway/config/configuration.ts';
import type { InstanceRecipe } from '../../../gateway/supervisor/recipe.ts';
import { send } from '../../support/http.ts';
import { until } from '../../support/files.ts';
import { PackSources, SETTINGS, indexText, servedIndex, writeFiles } from './support/packSources.ts';

const COMMAND: RuntimeSettings = { kind: 'command', command: ['/bin/true'] };

/** A pack with an index of its own that has served as `1`. */
async function served(more: Readonly<Record<string, string>> = {}) {
  const sources = new PackSources({ 'index.json': indexText(), 'code.mjs': '1', ...more });
  sources.with({ index: join(sources.pack, 'index.json'), runtime: COMMAND });
  return { sources, first: await sources.serve() };
}

const codeOf = (folder: string): string => readFileSync(join(folder, 'code.mjs'), 'utf8');
const builds = ({ folder }: PackSources): string[] => readdirSync(folder.buildsDir);

describe('going back to the build before', () => {
  it('serves its index and its code, from a copy of its folder', async () => {
    const { sources, first } = await served();
    const second = await sources.change({ 'code.mjs': '2', 'index.json': indexText({ packVersion: '2.0.0' }) });
    expect([sources.source.previousBuild, sources.source.isRolledBack]).toEqual([first.build, false]);
    expect(sources.source.rollBack()).toBeUndefined();
    // Not before an instance of it serves.
    expect(sources.source.isRolledBack).toBe(false);
    const back = await sources.serve(false);
    expect([back.build, servedIndex(back)]).toEqual([first.build, indexText()]);
    expect([sources.source.previousBuild, sources.source.isRolledBack]).toEqual([undefined, true]);
    const { spec } = sources.launch(back);
    expect(codeOf(spec.cwd)).toBe('1');
    expect(spec.args).toEqual(['--index', back.index.path, '--module-root', spec.cwd, '--host', '127.0.0.1']);
    expect(spec.env.HOME).toBe(spec.cwd);
    expect(sources.launch(second).spec.cwd).toBe(sources.pack);
    // A crash of it starts it again.
    expect(sources.launch(await sources.prepare(false)).spec.cwd).toBe(spec.cwd);
  });

  it('waits for the copy of its code that is still being made', async () => {
    const { sources } = await served();
    // Outside of the folder that is copied.
    const index = join(sources.home, 'index.json');
    writeFileSync(index, indexText());
    sources.with({ index, runtime: COMMAND });
    const second = await sources.prepare();
    sources.source.keep(second);
    // The index is broken, and an operator is quick.
    writeFileSync(index, '{');
    await expect(sources.prepare()).rejects.toMatchObject({ code: 'index-failed' });
    expect(sources.source.rollBack()).toBeUndefined();
    expect((await sources.prepare(false)).build).toBe(second.build);
  });

  it('ends with a look at the folder, once what is made of it serves', async () => {
    const { sources, first } = await served();
    await sources.change({ 'code.mjs': '2' });
    sources.source.rollBack();
    await sources.serve(false);
    const fresh = await sources.prepare();
    expect(sources.source.isRolledBack).toBe(true);
    sources.source.keep(fresh);
    await sources.source.settled();
    expect([sources.source.isRolledBack, sources.source.previousBuild]).toEqual([false, first.build]);
    expect(sources.launch(await sources.prepare(false)).spec.cwd).toBe(sources.pack);
  });

  it('belongs to the start it was ordered for, and to no later one', async () => {
    const { sources } = await served();
    const second = await sources.change({ 'code.mjs': '2' });
    const busy = sources.prepare();
    const abort = new AbortController();
    sources.source.rollBack();
    const goingBack = sources.prepare(false, abort.signal);
    abort.abort();
    await expect(goingBack).rejects.toMatchObject({ code: 'cancelled' });
    await busy;
    expect(sources.launch(await sources.prepare(false)).spec.cwd).toBe(sources.pack);
    expect((await sources.prepare(false)).build).toBe(second.build);
  });

  it('is forgotten when it was not tried before a look at the folder', async () => {
    const { sources } = await served();
    const second = await sources.change({ 'code.mjs': '2' });
    sources.source.rollBack();
    await sources.prepare();
    expect((await sources.prepare(false)).build).toBe(second.build);
  });

  it('to what serves, when what is in the folder never has: its start failed', async () => {
    const { sources } = await served();
    const second = await sources.change({ 'code.mjs': '2' });
    writeFiles(sources.pack, { 'code.mjs': '3' });
    await sources.prepare();
    expect(sources.source.previousBuild).toBe(second.build);
    sources.source.rollBack();
    expect(codeOf(sources.launch(await sources.serve(false)).spec.cwd)).toBe('2');
  });

  it('is not changed by a look at the folder that is given up, and leads to what serves after one that failed', async () => {
    const { sources, first } = await served();
    const second = await sources.change({ 'code.mjs': '2' });
    const abort = new AbortController();
    const looking = sources.prepare(true, abort.signal);
    for (let tick = 0; tick < 10; tick += 1) await Promise.resolve();
    abort.abort();
    await expect(looking).rejects.toMatchObject({ code: 'cancelled' });
    expect(sources.source.previousBuild).toBe(first.build);
    writeFiles(sources.pack, { 'index.json': '{' });
    await expect(sources.prepare()).rejects.toMatchObject({ code: 'index-failed' });
    expect(sources.source.previousBuild).toBe(second.build);
  });

  it('finds the data that the pack has written meanwhile', async () => {
    const { sources } = await served();
    await sources.change({ 'code.mjs': '2', 'runs.jsonl': 'ran\n' });
    sources.source.rollBack();
    const { spec } = sources.launch(await sources.prepare(false));
    expect(readFileSync(join(spec.cwd, 'runs.jsonl'), 'utf8')).toBe('ran\n');
  });

  it('runs a program of the pack’s own from the copy, too', async () => {
    const { sources } = await served({ 'bin/serve': '#!/bin/sh\n' });
    const command = [join(sources.pack, 'bin/serve'), '--data', `${sources.pack}-data`];
    sources.with({ index: join(sources.pack, 'index.json'), runtime: { kind: 'command', command } });
    await sources.change({ 'code.mjs': '2' });
    sources.source.rollBack();
    const { spec } = sources.launch(await sources.prepare(false));
    expect([spec.command, ...spec.args.slice(0, 2)]).toEqual([
      join(spec.cwd, 'bin/serve'),
      '--data',
      `${sources.pack}-data`,
    ]);
    expect(existsSync(spec.command)).toBe(true);
  });

  it.each<[RuntimeSettings, number]>([
    [{ kind: 'node', node: '/bin/true' }, 2],
    [{ kind: 'python', python: '/bin/true' }, 3],
  ])('is the same for %j', async (runtime, ownArguments) => {
    const { sources } = await served();
    sources.with({ index: join(sources.pack, 'index.json'), runtime });
    await sources.serve();
    await sources.change({ 'code.mjs': '2' });
    expect(sources.source.rollBack()).toBeUndefined();
    const back = await sources.prepare(false);
    const { spec } = sources.launch(back);
    expect(codeOf(spec.cwd)).toBe('1');
    expect(spec.command).toBe('/bin/true');
    expect(spec.args.slice(ownArguments)).toEqual([
      '--index',
      back.index.path,
      '--module-root',
      spec.cwd,
      '--host',
      '127.0.0.1',
    ]);
  });

  it('works for TypeScript: each build runs its own bundle, at the same time', async () => {
    const sources = new PackSources({});
    sources.copyFixture('node-typescript');
    symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(sources.pack, 'node_modules'));
    await sources.serve();
    await sources.change({ 'data/greeting.json': '{"greeting":"Good day"}' });
    expect(sources.source.rollBack()).toBeUndefined();
    const old = await sources.prepare(false);
    const fresh = await sources.prepare();
    const [{ text: oldText, url: oldUrl }, { text, url }] = await Promise.all([
      greet(sources, old),
      greet(sources, fresh),
    ]);
    expect([oldText, text]).toEqual(['Hello World', 'Good day World']);
    expect(oldUrl).toContain(`/builds/${old.build}/pack/tools/greet.ts`);
    expect(url).toContain(`${sources.pack}/tools/greet.ts`);
  });
});

/** Starts a real service of the recipe and calls its tool. */
async function greet(sources: PackSources, recipe: InstanceRecipe): Promise<{ text: string; url: string }> {
  let output = '';
  const onStderr = (chunk: Buffer): void => void (output += chunk.toString());
  sources.launch(recipe, { onStdout: () => undefined, onStderr });
  const port = await until('it listens', () => /"port":(\d+)/.exec(output)?.[1], 15_000);
  const ctx = { tenantId: SETTINGS.tenantId, runId: 'r', requestId: 'q' };
  const headers = { 'content-type': 'application/json', 'kindgi-pack-token': 'token', 'kindgi-tenant-id': 'a' };
  const body = JSON.stringify({ v: 2, kind: 'invoke', tool: { id: 'typed.greet' }, input: {}, ctx });
  const answer = await until('it is ready', async () => {
    const got = await send(`http://127.0.0.1:${port}`, { method: 'POST', path: '/v1/invoke', headers, body });
    return got.status !== 503 && got;
  });
  const { output: value } = answer.json as { output?: { text: string; url: string } };
  if (value === undefined) throw new Error(answer.text);
  return value;
}

describe('there is nothing to go back to', () => {
  it('before anything has served, and after the first build has', async () => {
    const sources = new PackSources({ 'index.json': indexText() });
    expect(sources.source.rollBack()).toBe('There is no build before the one that is served');
    const { sources: one } = await served();
    await one.serve();
    expect(one.source.rollBack()).toBe('There is no build before the one that is served');
    expect(one.source.previousBuild).toBeUndefined();
  });

  it('from a build that was gone back to', async () => {
    const { sources } = await served();
    await sources.change({ 'code.mjs': '2' });
    sources.source.rollBack();
    await sources.serve(false);
    expect(sources.source.rollBack()).toMatch(/^It is rolled back already/);
  });

  it('when a file changed while the build started', async () => {
    const { sources } = await served();
    writeFiles(sources.pack, { 'code.mjs': '2' });
    const second = await sources.prepare();
    writeFiles(sources.pack, { 'code.mjs': '3' });
    sources.source.keep(second);
    await sources.source.settled();
    await sources.serve();
    expect(sources.source.rollBack()).toBe(
      `Build ${second.build} cannot be gone back to, no copy of its code is kept: code.mjs changed while it started`,
    );
    expect(sources.logged('no-snapshot')).toMatchObject([{ build: second.build }]);
  });

  it('when the copy that it waits for cannot be made', async () => {
    const { sources } = await served();
    writeFiles(sources.pack, { 'code.mjs': '2' });
    const second = await sources.prepare();
    writeFiles(sources.pack, { 'code.mjs': '3' });
    const third = await sources.prepare();
    sources.source.keep(second);
    sources.source.keep(third);
    expect(sources.source.rollBack()).toBeUndefined();
    await expect(sources.prepare(false)).rejects.toThrow(
      /no copy of its code is kept: code.mjs changed while it started/,
    );
  });

  it('when the index that the build before had is not the configured one', async () => {
    const { sources } = await served();
    const second = await sources.change({ 'index.json': indexText({ packVersion: '2.0.0' }) });
    sources.with({ ...sources.settings, indexHash: second.index.hash });
    expect(sources.source.rollBack()).toBeUndefined();
    await expect(sources.prepare(false)).rejects.toMatchObject({
      code: 'index-failed',
      message: expect.stringContaining(`expected ${second.index.hash}`) as string,
    });
    expect((await sources.prepare(false)).build).toBe(second.build);
  });
});

describe('after the gateway was started anew', () => {
  it('a build that was gone back to is served, with a warning that says how to return', async () => {
    const { sources, first } = await served();
    await sources.change({ 'code.mjs': '2' });
    sources.source.rollBack();
    await sources.serve(false);
    sources.open();
    expect(sources.logged('rolled-back')).toMatchObject([
      { level: 40, build: first.build, msg: expect.stringContaining('"packgate reload a/default"') as string },
    ]);
    expect(sources.source.isRolledBack).toBe(true);
    const again = await sources.serve(false);
    expect(codeOf(sources.launch(again).spec.cwd)).toBe('1');
    expect(again.build).toBe(first.build);
    await sources.serve();
    sources.open();
    expect(sources.source.isRolledBack).toBe(false);
    expect(sources.logged('rolled-back')).toHaveLength(1);
  });

  it('with a new pack the one of the last life can be gone back to, before and after the new one has served', async () => {
    const { sources, first } = await served();
    sources.open();
    writeFiles(sources.pack, { 'code.mjs': '2' });
    expect(sources.source.previousBuild).toBe(first.build);
    expect((await sources.serve(false)).build).not.toBe(first.build);
    expect(sources.source.previousBuild).toBe(first.build);
    expect(sources.source.rollBack()).toBeUndefined();
    expect(codeOf(sources.launch(await sources.serve(false)).spec.cwd)).toBe('1');
  });

  it('such a build is not served when the pack is another by configuration', async () => {
    const { sources } = await served();
    await sources.change({ 'code.mjs': '2' });
    sources.source.rollBack();
    await sources.serve(false);
    const index = join(sources.home, 'other.json');
    writeFileSync(index, indexText({ packId: 'q' }));
    sources.with({ index, runtime: COMMAND });
    sources.open();
    expect([sources.source.isRolledBack, sources.logged('rolled-back')]).toEqual([false, []]);
    expect((await sources.prepare(false)).index.packId).toBe('q');
  });

  it.each(['', '{', 'null', '[]', '{"kept":"../../etc","isRolledBack":true,"basis":""}', '{"kept":7}'])(
    'a damaged note of what was served is ignored with a warning: %j',
    async (text) => {
      const { sources, first } = await served();
      writeFileSync(sources.folder.servingPath, text);
      sources.open();
      expect(sources.logged('serving-unreadable')).toHaveLength(1);
      expect((await sources.serve(false)).build).toBe(first.build);
      sources.open();
      expect(sources.logged('serving-unreadable')).toHaveLength(1);
    },
  );

  it.each(['pack', 'index.json'])('a build whose %s is gone is made anew, with a warning', async (part) => {
    const { sources, first } = await served();
    const second = await sources.change({ 'code.mjs': '2' });
    sources.source.rollBack();
    await sources.serve(false);
    rmSync(join(sources.folder.buildsDir, first.build, part), { recursive: true });
    sources.open();
    expect((await sources.serve(false)).build).toBe(second.build);
    expect(sources.logged('build-lost')).toHaveLength(1);
    expect(sources.source.isRolledBack).toBe(false);
  });

  it('what earlier lives have left is removed', async () => {
    const { sources, first } = await served();
    writeFiles(sources.folder.path, {
      'index.json': '',
      'indexing-abc/index.json.tmp': '',
      'serving.json.tmp': '',
      'builds/0123456789ab/index.json': '',
    });
    sources.open();
    await sources.serve();
    expect(readdirSync(sources.folder.path).toSorted()).toEqual(['build', 'builds', 'serving.json']);
    expect(builds(sources)).toEqual([first.build]);
  });
});

describe('what is kept', () => {
  it('is what serves, what is gone back to, and what a process still runs on', async () => {
    const sources = new PackSources({ 'index.json': indexText(), 'code.mjs': '0' });
    sources.with({
      index: join(sources.pack, 'index.json'),
      runtime: { kind: 'command', command: ['sh', '-c', 'exec sleep 60'] },
    });
    const first = await sources.serve();
    const { process } = sources.launch(first);
    const ids = [first.build];
    for (let at = 1; at <= 5; at += 1) ids.push((await sources.change({ 'code.mjs': `${at}` })).build);
    expect(new Set(ids).size).toBe(6);
    expect(new Set(builds(sources))).toEqual(new Set([ids[0], ids[4], ids[5]]));
    expect(servedIndex(first)).toBe(indexText());
    process.killGroup();
    await process.finished;
    await sources.source.settled();
    expect(new Set(builds(sources))).toEqual(new Set([ids[4], ids[5]]));
  });

  it('is the same after a reload without a change, and the build before stays', async () => {
    const { sources, first } = await served();
    const second = await sources.change({ 'code.mjs': '2' });
    for (let round = 0; round < 3; round += 1) expect((await sources.serve()).build).toBe(second.build);
    expect(sources.source.previousBuild).toBe(first.build);
    // And back to what it was by hand is the old build again.
    expect((await sources.change({ 'code.mjs': '1' })).build).toBe(first.build);
    expect(sources.source.previousBuild).toBe(second.build);
  });

  it('is left alone once the deployment is closed: another one may use its folder', async () => {
    const sources = new PackSources({ 'index.json': indexText(), 'code.mjs': '1' });
    const command = ['sh', '-c', 'exec sleep 60'];
    sources.with({ index: join(sources.pack, 'index.json'), runtime: { kind: 'command', command } });
    const first = await sources.serve();
    const { process } = sources.launch(first);
    writeFiles(sources.pack, { 'code.mjs': '2' });
    const second = await sources.prepare();
    const old = sources.source;
    old.keep(second);
    await old.close();
    expect(JSON.parse(readFileSync(sources.folder.servingPath, 'utf8'))).toMatchObject({ kept: first.build });
    sources.open();
    const third = await sources.change({ 'code.mjs': '3' });
    process.killGroup();
    await process.finished;
    await old.settled();
    expect(new Set(builds(sources))).toEqual(new Set([first.build, third.build]));
  });

  it('is served on when it cannot be written down', async () => {
    const { sources } = await served();
    symlinkSync('/dev/full', `${sources.folder.servingPath}.tmp`);
    const second = await sources.change({ 'code.mjs': '2' });
    expect(sources.logged('serving-unwritable')).toHaveLength(1);
    expect((await sources.prepare(false)).build).toBe(second.build);
  });

  it('is nobody else’s to read', async () => {
    const { sources, first } = await served();
    const modes = [sources.folder.buildsDir, first.index.path, sources.folder.servingPath].map(
      (path) => statSync(path).mode & 0o077,
    );
    expect(modes).toEqual([0, 0, 0]);
  });
});
