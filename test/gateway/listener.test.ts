import { lstatSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openListener } from '../../gateway/listener.ts';
import { temporaryFolder } from '../support/files.ts';

function server(): Server {
  const created = createServer((socket) => socket.end());
  onTestFinished(() => void created.close());
  return created;
}

describe('a listener', () => {
  it('says where it is reached', async () => {
    const path = join(temporaryFolder(), 'a.sock');
    expect(await openListener(server(), { kind: 'tcp', host: '127.0.0.1', port: 0 })).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+$/,
    );
    expect(await openListener(server(), { kind: 'unix', path })).toBe(`unix:${path}`);
  });

  it('on an address that is taken rejects, and takes nothing from the one that has it', async () => {
    const path = join(temporaryFolder(), 'a.sock');
    const holder = server();
    await openListener(holder, { kind: 'unix', path });
    await expect(openListener(server(), { kind: 'unix', path })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect([holder.listening, lstatSync(path).isSocket()]).toEqual([true, true]);
  });

  it('takes the place of a socket whose process is gone, never of another file', async () => {
    const folder = temporaryFolder();
    const [path, kept] = [join(folder, 'a.sock'), join(folder, 'kept')];
    const dead = server();
    await openListener(dead, { kind: 'unix', path });
    // Closing removes the file of a listener; one that has another name meanwhile stays, as after a SIGKILL.
    renameSync(path, kept);
    await new Promise((done) => dead.close(done));
    renameSync(kept, path);
    expect(await openListener(server(), { kind: 'unix', path })).toBe(`unix:${path}`);

    const file = join(folder, 'b.sock');
    writeFileSync(file, 'precious');
    await expect(openListener(server(), { kind: 'unix', path: file })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(readFileSync(file, 'utf8')).toBe('precious');
  });

  it('on a public socket has the mode that the mask gives, on a private one 0600', async () => {
    const before = process.umask(0o007);
    onTestFinished(() => void process.umask(before));
    const folder = temporaryFolder();
    const [open, shut] = [join(folder, 'open.sock'), join(folder, 'shut.sock')];
    await openListener(server(), { kind: 'unix', path: open });
    await openListener(server(), { kind: 'unix', path: shut }, { isPrivate: true });
    expect([open, shut].map((path) => statSync(path).mode & 0o777)).toEqual([0o770, 0o600]);
    expect(process.umask()).toBe(0o007);
  });
});
