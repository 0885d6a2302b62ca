import { readFile, readdir, readlink } from 'node:fs/promises';

/** Who listens on a port of this machine. `unknown`: `/proc` cannot be read here. */
export type PortOwner = 'ours' | 'foreign' | 'nobody' | 'unknown';

/** State "listening" in `/proc/net/tcp`. */
const LISTEN = '0A';

/**
 * Whether the process group led by `leader` listens on `port`. Pack code shares the service's stderr and can print any
 * port it likes (C25); the kernel's tables cannot be talked into anything.
 */
export async function portOwner(leader: number, port: number): Promise<PortOwner> {
  try {
    const sockets = await listeningSockets(port);
    if (sockets.size === 0) return 'nobody';
    // Nearly always it is the leader itself; only a wrapper makes the look through all processes necessary.
    if (await holdsAny(leader, sockets)) return 'ours';
    for (const pid of await groupMembers(leader)) {
      if (pid !== leader && (await holdsAny(pid, sockets))) return 'ours';
    }
    return 'foreign';
  } catch {
    return 'unknown';
  }
}

/** Inodes of the sockets that listen on `port`, on any address. */
async function listeningSockets(port: number): Promise<Set<string>> {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = new Set<string>();
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  if (tables.every((table) => table === '')) throw new Error('/proc/net is not readable');
  for (const line of tables.join('\n').split('\n')) {
    const fields = line.trim().split(/\s+/);
    const [, local, , state] = fields;
    const inode = fields[9];
    if (state === LISTEN && local?.split(':')[1] === wanted && inode !== undefined) inodes.add(inode);
  }
  return inodes;
}

async function holdsAny(pid: number, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const link = await readlink(`${folder}/${name}`).catch(() => '');
    const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
    if (inode !== undefined && sockets.has(inode)) return true;
  }
  return false;
}

async function groupMembers(leader: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const groups = await Promise.all(pids.map(groupOf));
  return pids.filter((_, at) => groups[at] === leader);
}

/** Field 5 of `/proc/PID/stat`; the command's name before it may hold blanks and brackets. */
export async function groupOf(pid: number | 'self'): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[2] === undefined ? undefined : Number(fields[2]);
}
