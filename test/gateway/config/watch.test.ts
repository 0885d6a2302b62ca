import { EventEmitter } from 'node:events';
import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../gateway/clock.ts';
import { SourceWatch } from '../../../gateway/config/watch.ts';
import { watchPointsOf } from '../../../gateway/config/watchPoints.ts';
import { temporaryFolder, until } from '../../support/files.ts';

/** Watches these files of a folder, and waits until it has looked once at what it began to watch. */
async function watching(folder: string, names: readonly string[]) {
  const seen: string[][] = [];
  const troubles: string[] = [];
  const watch = new SourceWatch({
    clock: systemClock,
    onChange: (sources) => void seen.push([...sources].map((path) => path.slice(folder.length + 1)).toSorted()),
    onTrouble: (path) => void troubles.push(path),
  });
  onTestFinished(() => watch.close());
  const paths = names.map((name) => join(folder, name));
  await watch.watch(paths);
  await until('the first look', () => seen.length > 0);
  expect(seen.splice(0)).toEqual([[...names].toSorted()]);
  return { watch, paths, seen, troubles, next: () => until('a change is seen', () => seen.shift()) };
}

describe('a watch over the files of a configuration', () => {
  it('sees a file written in place, renamed over, removed and made again', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'a.yaml');
    writeFileSync(file, '1');
    const { next } = await watching(folder, ['a.yaml']);
    writeFileSync(file, '2');
    expect(await next()).toEqual(['a.yaml']);
    for (const text of ['3', '4']) {
      writeFileSync(join(folder, 'new'), text);
      renameSync(join(folder, 'new'), file);
      expect(await next()).toEqual(['a.yaml']);
    }
    rmSync(file);
    expect(await next()).toEqual(['a.yaml']);
    writeFileSync(file, '5');
    expect(await next()).toEqual(['a.yaml']);
  });

  it('takes a burst of writes, to several files, as one', async () => {
    const folder = temporaryFolder();
    for (const name of ['a', 'b']) writeFileSync(join(folder, name), '');
    const { next, seen } = await watching(folder, ['a', 'b']);
    for (let n = 0; n < 100; n += 1) writeFileSync(join(folder, n % 2 === 0 ? 'a' : 'b'), String(n));
    expect(await next()).toEqual(['a', 'b']);
    writeFileSync(join(folder, 'a'), 'last');
    expect(await next()).toEqual(['a']);
    expect(seen).toEqual([]);
  });

  it('sees a file that was not there yet, and the folder it is in', async () => {
    const folder = temporaryFolder();
    const { watch, paths, next } = await watching(folder, ['secrets/key']);
    mkdirSync(join(folder, 'secrets'));
    expect(await next()).toEqual(['secrets/key']);
    // What was not watched before is looked at once.
    await watch.watch(paths);
    expect(await next()).toEqual(['secrets/key']);
    writeFileSync(join(folder, 'secrets/key'), 'x');
    expect(await next()).toEqual(['secrets/key']);
  });

  it('sees a mounted ConfigMap change: files are links into a folder behind a link that is swapped', async () => {
    const folder = temporaryFolder();
    const publish = (version: string): void => {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, 'a.yaml'), version);
      symlinkSync(version, join(folder, '..data_tmp'));
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    publish('..1');
    symlinkSync('..data/a.yaml', join(folder, 'a.yaml'));
    const { watch, paths, next } = await watching(folder, ['a.yaml']);
    const watchers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'FSEventWrap').length;
    const before = watchers();
    for (let version = 2; version <= 6; version += 1) {
      publish(`..${version}`);
      expect(await next()).toEqual(['a.yaml']);
      await watch.watch(paths);
      // The new folder behind the link was not watched before.
      expect(await next()).toEqual(['a.yaml']);
      expect(watchers()).toBe(before);
    }
    watch.close();
    expect(watchers()).toBe(0);
  });

  it('sees a tenant’s file come and go in a folder, and nothing of what is no tenant’s', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'tenants.d'));
    const { next, seen } = await watching(folder, ['tenants.d']);
    for (const name of ['.a.yaml.swp', 'a.yaml~', 'notes.txt']) writeFileSync(join(folder, 'tenants.d', name), '');
    writeFileSync(join(folder, 'elsewhere'), '');
    writeFileSync(join(folder, 'tenants.d/a.yaml'), '');
    expect(await next()).toEqual(['tenants.d']);
    rmSync(join(folder, 'tenants.d/a.yaml'));
    expect(await next()).toEqual(['tenants.d']);
    expect(seen).toEqual([]);
  });

  it('goes on with a folder that was replaced by another', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'tenants.d'));
    const { watch, paths, next } = await watching(folder, ['tenants.d']);
    renameSync(join(folder, 'tenants.d'), join(folder, 'old'));
    mkdirSync(join(folder, 'tenants.d'));
    expect(await next()).toEqual(['tenants.d']);
    await watch.watch(paths);
    expect(await next()).toEqual(['tenants.d']);
    writeFileSync(join(folder, 'tenants.d/a.yaml'), '');
    expect(await next()).toEqual(['tenants.d']);
  });

  it('that cannot be had, or is lost, is told of once, and had again when it can be', async () => {
    const folder = temporaryFolder();
    for (const name of ['a', 'b', 'c']) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'x'), '');
    }
    const paths = ['a/x', 'b/x', 'c/x'].map((name) => join(folder, name));
    const troubles: string[] = [];
    const opened: EventEmitter[] = [];
    let isFull = true;
    const watch = new SourceWatch({
      clock: systemClock,
      onChange: () => undefined,
      onTrouble: (path, error) => void troubles.push(`${path.slice(folder.length + 1)}: ${String(error)}`),
      watchFolder: () => {
        if (isFull && opened.length > 0) throw new Error('ENOSPC');
        const watcher = Object.assign(new EventEmitter(), { close: () => undefined });
        opened.push(watcher);
        return watcher;
      },
    });
    onTestFinished(() => watch.close());
    await watch.watch(paths);
    await watch.watch(paths);
    expect(troubles).toEqual(['b: Error: ENOSPC']);
    isFull = false;
    await watch.watch(paths);
    expect(opened).toHaveLength(3);
    opened[1]?.emit('error', new Error('lost'));
    expect(troubles).toEqual(['b: Error: ENOSPC', 'b: Error: lost']);
    await watch.watch(paths);
    expect(opened).toHaveLength(4);
  });

  it('closed, says nothing more', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a'), '');
    const { watch, paths, seen } = await watching(folder, ['a']);
    writeFileSync(join(folder, 'a'), 'x');
    watch.close();
    await watch.watch(paths);
    const other = await watching(folder, ['a']);
    writeFileSync(join(folder, 'a'), 'y');
    await other.next();
    expect(seen).toEqual([]);
  });
});

describe('what must be watched to see a path change', () => {
  it('is its name in its folder, and every link on the way', async () => {
    const folder = realpathSync(temporaryFolder());
    mkdirSync(join(folder, 'releases/2/etc'), { recursive: true });
    writeFileSync(join(folder, 'releases/2/etc/a.yaml'), '');
    symlinkSync('releases/2', join(folder, 'current'));
    expect(await watchPointsOf(join(folder, 'current/etc/a.yaml'))).toEqual([
      { folder, name: 'current' },
      { folder: join(folder, 'releases/2/etc'), name: 'a.yaml' },
    ]);
    expect(await watchPointsOf(join(folder, 'current/none/a.yaml'))).toEqual([
      { folder, name: 'current' },
      { folder: join(folder, 'releases/2'), name: 'none' },
    ]);
  });

  it('ends where links go round in a circle', async () => {
    const folder = realpathSync(temporaryFolder());
    symlinkSync('b', join(folder, 'a'));
    symlinkSync('a', join(folder, 'b'));
    const points = await watchPointsOf(join(folder, 'a'));
    expect(new Set(points.map(({ name }) => name))).toEqual(new Set(['a', 'b']));
    expect(points.length).toBeLessThan(50);
  });
});
