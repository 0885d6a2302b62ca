import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { portOwner } from '../../../gateway/supervisor/portOwner.ts';

describe('who listens on a port', () => {
  it('is the process that was started, a process of its group, someone else, or nobody', async () => {
    const script =
      'const s = require("net").createServer().listen(0, "127.0.0.1", () => console.log(s.address().port))';
    const direct = spawn(process.execPath, ['-e', script], { detached: true });
    const wrapped = spawn('sh', ['-c', `${process.execPath} -e '${script}'; true`], { detached: true });
    const ports = await Promise.all(
      [direct, wrapped].map(
        (child) =>
          new Promise<number>((resolve) =>
            child.stdout.once('data', (data: Buffer) => resolve(Number(data.toString()))),
          ),
      ),
    );
    const here = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => here.once('listening', resolve));
    const ownPort = (here.address() as AddressInfo).port;
    try {
      const [directPid, wrappedPid] = [direct.pid ?? 0, wrapped.pid ?? 0];
      expect(await portOwner(directPid, ports[0] ?? 0)).toBe('ours');
      expect(await portOwner(wrappedPid, ports[1] ?? 0)).toBe('ours');
      expect(await portOwner(directPid, ports[1] ?? 0)).toBe('foreign');
      expect(await portOwner(directPid, ownPort)).toBe('foreign');
      here.close();
      expect(await portOwner(directPid, ownPort)).toBe('nobody');
    } finally {
      for (const child of [direct, wrapped]) process.kill(-(child.pid ?? 0), 'SIGKILL');
    }
  });
});
