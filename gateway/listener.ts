import { chmod, lstat, mkdir, stat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { dirname } from 'node:path';
import type { ListenAddress } from './config/configuration.ts';

const S_ISVTX = 0o1000;

export interface ListenerOptions {
  /**
   * A Unix socket that only this user can connect to (0600), from its first moment on; a folder for it is made if need
   * be, for this user alone.
   */
  readonly isPrivate?: boolean;
}

/** Lets `server` listen. Returns where it is reached, as a URL for TCP. Rejects with the system's error. */
export async function openListener(
  server: Server,
  listen: ListenAddress,
  { isPrivate = false }: ListenerOptions = {},
): Promise<string> {
  if (listen.kind === 'unix') {
    if (isPrivate) await makePrivateFolder(dirname(listen.path));
    await removeStaleSocket(listen.path);
  }
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Of sockets alone: the mask is the whole process's, and not to be had in a worker thread.
    withUmask(isPrivate && listen.kind === 'unix' ? 0o177 : undefined, () => {
      server.listen(optionsOf(listen), () => {
        server.off('error', reject);
        // Too many open files and the like: the connection is lost, the gateway is not.
        server.on('error', () => undefined);
        resolve(addressText(server.address()));
      });
    });
  });
}

function optionsOf(listen: ListenAddress): object {
  if (listen.kind === 'tcp') return { host: listen.host, port: listen.port };
  return listen.kind === 'unix' ? { path: listen.path } : { fd: listen.fd };
}

/** Node binds a Unix socket before `listen` returns, so nothing else is created under this mask. */
function withUmask(mask: number | undefined, action: () => void): void {
  if (mask === undefined) {
    action();
    return;
  }
  const before = process.umask(mask);
  try {
    action();
  } finally {
    process.umask(before);
  }
}

/**
 * A folder below one where everybody may write (`/tmp`) must be ours: whoever made it before us could put another
 * socket in the place of the one that operators ask for.
 */
async function makePrivateFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  // The caller's mask may have taken more than it should.
  if (made !== undefined) await chmod(folder, 0o700);
  const [own, around] = [await lstat(folder), await stat(dirname(folder))];
  if ((around.mode & S_ISVTX) === 0) return;
  if (own.isDirectory() && own.uid === process.getuid?.()) return;
  throw new Error(`its folder ${folder} belongs to another user, who could put another socket there`);
}

/** A socket file that outlived its gateway would keep the next one from listening; one that answers is left alone. */
async function removeStaleSocket(path: string): Promise<void> {
  // Connecting to a plain file is refused, too, and that file is somebody's.
  if ((await lstat(path).catch(() => undefined))?.isSocket() !== true) return;
  const isStale = await new Promise<boolean>((resolve) => {
    const probe = connect(path);
    probe
      .once('connect', () => {
        probe.destroy();
        resolve(false);
      })
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
  if (isStale) await unlink(path).catch(() => undefined);
}

function addressText(address: AddressInfo | string | null): string {
  if (address === null) return 'an inherited socket';
  if (typeof address === 'string') return `unix:${address}`;
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
