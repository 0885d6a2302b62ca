import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StateDirInUse, lockStateDir } from '../../../gateway/supervisor/lock.ts';

describe('the lock of a state folder', () => {
  it('lets one gateway in, names its pid to the next, and is given back', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'packgate-lock-'));
    try {
      const unlock = await lockStateDir(folder);
      await expect(lockStateDir(folder)).rejects.toThrow(StateDirInUse);
      await expect(lockStateDir(folder)).rejects.toThrow(String(process.pid));
      await unlock();
      const again = await lockStateDir(folder);
      await again();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is taken over from a process that is gone, also when its pid is in use again, and from a broken file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'packgate-lock-'));
    const path = join(folder, 'gateway.lock');
    try {
      for (const text of [JSON.stringify({ pid: process.pid, startTime: '1', bootId: 'x' }), '{"pid":', '']) {
        await writeFile(path, text);
        const unlock = await lockStateDir(folder);
        expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid });
        await unlock();
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
