import { open, readFile, readdir, readlink } from 'node:fs/promises';

/** Who listens on a port of this machine. `unknown`: `/proc` cannot be read here. */
export type PortOwner = 'ours' | 'foreign' | 'nobody' | 'unknown';

/** State "listening" in `/proc/net/tcp`. */
const LISTEN = '0A';

const TABLE_CHUNK_BYTES = 16 * 1024;

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
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => listenersIn(`/proc/net/${name}`).catch(() => [])));
  if (tables.every((lines) => lines.length === 0)) throw new Error('/proc/net is not readable');
  for (const line of tables.flat()) {
    const fields = line.trim().split(/\s+/);
    const [, local, , state] = fields;
    const inode = fields[9];
    if (state === LISTEN && local?.split(':')[1] === wanted && inode !== undefined) inodes.add(inode);
  }
  return inodes;
}

/**
 * The head of a table of sockets and its lines up to the first that does not listen: the kernel writes those that listen
 * first. All others, on a busy machine tens of thousands of connections, would take a tenth of a second to read.
 */
async function listenersIn(path: string): Promise<string[]> {
  const file = await open(path);
  try {
    const chunk = Buffer.alloc(TABLE_CHUNK_BYTES);
    let text = '';
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
      text += chunk.toString('latin1', 0, bytesRead);
      const lines = text.split('\n');
      const isCut = bytesRead > 0;
      const whole = isCut ? lines.slice(0, -1) : lines;
      const others = whole.findIndex((line, at) => at > 0 && line !== '' && !line.includes(` ${LISTEN} `));
      if (others >= 0 || !isCut) return others >= 0 ? whole.slice(0, others) : whole;
    }
  } finally {
    await file.close();
  }
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
