import { chmodSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockPlaces, placeOf } from '../../../gateway/dev/place.ts';
import { lockStateDir } from '../../../gateway/supervisor/lock.ts';
import { temporaryFolder } from '../../support/files.ts';

const uid = process.getuid?.() ?? 0;

describe('where a loop keeps its state', () => {
  it('is a folder of this user alone, another for another folder', async () => {
    const owner = { tmpDir: temporaryFolder(), uid };
    const { stateDir, release } = await lockPlaces(['/packs/a', '/packs/b'], owner);
    await release();
    expect(stateDir).toBe(placeOf('/packs/a', owner));
    expect(placeOf('/packs/b', owner)).not.toBe(stateDir);
    expect([stateDir, join(stateDir, '..')].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
  });

  it('is refused where somebody else could have made it', async () => {
    const owner = { tmpDir: temporaryFolder(), uid };
    mkdirSync(join(owner.tmpDir, `packgate-dev-${uid}`));
    chmodSync(join(owner.tmpDir, `packgate-dev-${uid}`), 0o777);
    await expect(lockPlaces(['/packs/a'], owner)).rejects.toThrow('is not a folder of yours alone');
    const other = { tmpDir: temporaryFolder(), uid };
    symlinkSync(temporaryFolder(), join(other.tmpDir, `packgate-dev-${uid}`));
    await expect(lockPlaces(['/packs/a'], other)).rejects.toThrow('is not a folder of yours alone');
  });

  it.each([0, 1])('is refused where another loop has one of the folders (the one at %i)', async (taken) => {
    const owner = { tmpDir: temporaryFolder(), uid };
    const roots = ['/packs/a', '/packs/b'];
    const { release } = await lockPlaces(roots, owner);
    await release();
    const unlock = await lockStateDir(placeOf(roots[taken] ?? '', owner));
    await expect(lockPlaces(roots, owner)).rejects.toThrow(`another packgate dev (pid ${process.pid}) has this folder`);
    await unlock();
    // Nothing is kept of a claim that failed.
    await (await lockPlaces(roots, owner)).release();
  });
});
