import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../gateway/clock.ts';
import { FolderWatch, watchForPacks } from '../../../gateway/dev/watch.ts';
import { temporaryFolder, until } from '../../support/files.ts';

/** A watch that has seen the folder: what is written after it settles is a change. */
async function watching(folder: string, isPolling = false) {
  const changes: string[][] = [];
  const troubles: Error[] = [];
  const watch = new FolderWatch({
    clock: systemClock,
    folders: [folder],
    onChange: (paths) => changes.push([...paths].map((path) => path.slice(folder.length + 1)).toSorted()),
    onTrouble: (error) => troubles.push(error),
  });
  onTestFinished(() => watch.close());
  if (isPolling) watch.giveUp(Object.assign(new Error('no watches left'), { code: 'ENOSPC' }));
  let count = 0;
  await until('the watch sees', () => {
    writeFileSync(join(folder, 'probe.txt'), String((count += 1)));
    return changes.length > 0;
  });
  await quiet(changes);
  changes.length = 0;
  return { changes, troubles };
}

/** Nothing has changed for a while: the probes have all been told. */
async function quiet(changes: readonly unknown[]): Promise<void> {
  let [seen, since] = [-1, 0];
  await until('no change comes any more', () => {
    if (changes.length !== seen) [seen, since] = [changes.length, performance.now()];
    return performance.now() - since > 400;
  });
}

describe('a watched folder', () => {
  it('tells what was written, in place or by renaming, in folders old and new, many files together', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'tools'));
    const { changes } = await watching(folder);
    for (const name of ['a.ts', 'b.ts']) writeFileSync(join(folder, 'tools', name), '1');
    await until('both are told', () => changes.flat().includes('tools/a.ts') && changes.flat().includes('tools/b.ts'));
    expect(changes).toHaveLength(1);
    for (let round = 0; round < 5; round += 1) {
      changes.length = 0;
      writeFileSync(join(folder, 'tools', 'a.ts.tmp'), String(round));
      renameSync(join(folder, 'tools', 'a.ts.tmp'), join(folder, 'tools', 'a.ts'));
      await until('it is told', () => changes.flat().includes('tools/a.ts'));
      await quiet(changes);
    }
    mkdirSync(join(folder, 'lib'));
    await until('the folder is seen', () => changes.flat().includes('lib'));
    writeFileSync(join(folder, 'lib', 'c.ts'), '1');
    await until('it is told', () => changes.flat().includes('lib/c.ts'));
    rmSync(join(folder, 'lib'), { recursive: true });
    changes.length = 0;
    await until('its end is told', () => changes.flat().includes('lib'));
  });

  it('is silent about what is installed, built, hidden or written by programs', async () => {
    const folder = temporaryFolder();
    for (const name of ['node_modules', '.git', '__pycache__', 'dist']) mkdirSync(join(folder, name));
    const { changes } = await watching(folder);
    for (const name of [
      'node_modules/a.js',
      '.git/index',
      '__pycache__/a.pyc',
      'dist/index.json',
      'calls.log',
      '.a.ts.swp',
    ])
      writeFileSync(join(folder, name), '1');
    writeFileSync(join(folder, '.env'), 'A=1');
    await until('what counts is told', () => changes.length > 0);
    await quiet(changes);
    expect(changes.flat()).toEqual(['.env']);
  });

  it.each([
    ['itself', ''],
    ['a folder in it', 'tools'],
  ])('goes on seeing when %s is replaced by another one, at once or after a moment', async (_, inside) => {
    const folder = join(temporaryFolder(), 'pack');
    mkdirSync(join(folder, 'tools'), { recursive: true });
    const { changes, troubles } = await watching(folder);
    const replaced = join(folder, inside);
    for (const gapMs of [0, 0, 0, 15, 80, 300]) {
      cpSync(replaced, `${folder}-copy`, { recursive: true });
      rmSync(replaced, { recursive: true });
      const from = performance.now();
      await until('the gap is over', () => performance.now() - from >= gapMs);
      renameSync(`${folder}-copy`, replaced);
      await quiet(changes);
      changes.length = 0;
      const saved = join(folder, 'tools', 'a.ts');
      writeFileSync(saved, String(gapMs));
      await until(`a save is told after a gap of ${gapMs} ms`, () => changes.flat().includes('tools/a.ts'));
    }
    expect(troubles).toEqual([]);
  });

  it('tells what is written while it begins to watch', async () => {
    for (let round = 0; round < 10; round += 1) {
      const folder = temporaryFolder();
      mkdirSync(join(folder, 'tools'));
      const changes: string[] = [];
      const watch = new FolderWatch({
        clock: systemClock,
        folders: [folder],
        onChange: (paths) => changes.push(...paths),
        onTrouble: (error) => expect(error).toBeUndefined(),
      });
      onTestFinished(() => watch.close());
      const saved = join(folder, 'tools', 'a.ts');
      writeFileSync(saved, '1');
      await until('it is told', () => changes.includes(saved));
    }
  });

  it('goes on by polling where nothing can be watched any more, and says so once', async () => {
    const folder = temporaryFolder();
    const { changes, troubles } = await watching(folder, true);
    expect(troubles).toHaveLength(1);
    writeFileSync(join(folder, 'a.ts'), '1');
    await until('it is told', () => changes.flat().includes('a.ts'));
  });
});

describe('a watch for packs', () => {
  it('sees a pack come and go, and nothing of what happens in a known one', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'known'));
    const changes: string[] = [];
    const watch = watchForPacks({
      clock: systemClock,
      folders: [folder],
      isKnown: (path) => path.startsWith(join(folder, 'known', '/')),
      onChange: (paths) => changes.push(...paths),
      onTrouble: (error) => expect(error).toBeUndefined(),
    });
    onTestFinished(() => watch.close());
    let count = 0;
    await until('the watch sees', () => {
      mkdirSync(join(folder, `probe${(count += 1)}`));
      return changes.length > 0;
    });
    mkdirSync(join(folder, 'team', 'crm'), { recursive: true });
    writeFileSync(join(folder, 'known', 'kindgi.config.ts'), '');
    writeFileSync(join(folder, 'team', 'crm', 'kindgi.config.ts'), '');
    await until('the pack is told', () => changes.includes(join(folder, 'team', 'crm')));
    await quiet(changes);
    changes.length = 0;
    rmSync(join(folder, 'team', 'crm'), { recursive: true });
    await until('its end is told', () => changes.some((path) => path.startsWith(join(folder, 'team'))));
    expect(changes.filter((path) => path.startsWith(join(folder, 'known')))).toEqual([]);
  });
});
