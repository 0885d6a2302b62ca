import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** What `/proc` says of the machine's processes. A process that is gone meanwhile simply is not there. */

/** Process ids whose command line contains the text, for example a test's folder. Zombies have no command line. */
export function processesMentioning(text: string): number[] {
  return allProcesses().filter((pid) => readProc(pid, 'cmdline')?.includes(text) === true);
}

/**
 * Living processes that belong to what was started in a folder: it is named in their command line or, since a pack's
 * folder is the HOME of everything it starts, in their environment.
 */
export function processesStartedIn(folder: string): number[] {
  return allProcesses().filter((pid) =>
    ['cmdline', 'environ'].some((name) => readProc(pid, name)?.includes(folder) === true),
  );
}

/** Sockets of these processes that listen on a TCP port, as `PORT (inode)`: the inode tells a socket from a later one. */
export function listeningSocketsOf(pids: readonly number[]): string[] {
  const listening = new Map<string, string>();
  for (const table of ['tcp', 'tcp6']) {
    for (const line of (readProc('self', `net/${table}`) ?? '').split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      const port = Number.parseInt(local.split(':')[1] ?? '', 16);
      if (state === '0A') listening.set(`socket:[${inode}]`, `${port} (${inode})`);
    }
  }
  const held = new Set(pids.flatMap((pid) => descriptorsOf(pid)));
  return [...listening].filter(([link]) => held.has(link)).map(([, socket]) => socket);
}

/** Of these listening sockets those that still listen, whoever holds them. */
export function stillListening(sockets: readonly string[]): string[] {
  const tables = ['tcp', 'tcp6'].map((table) => readProc('self', `net/${table}`) ?? '').join('\n');
  const inodes = new Set(tables.split('\n').map((line) => line.trim().split(/\s+/)[9]));
  return sockets.filter((socket) => inodes.has(/\((\d+)\)$/.exec(socket)?.[1] ?? ''));
}

/** Living members of a process group. */
export function processesOfGroup(group: number): number[] {
  return allProcesses().filter((pid) => {
    const [state, , itsGroup] = statFields(pid);
    return state !== 'Z' && Number(itsGroup) === group;
  });
}

/** Living children of a process. */
export function childrenOf(parent: number): number[] {
  return allProcesses().filter((pid) => {
    const [state, itsParent] = statFields(pid);
    return state !== undefined && state !== 'Z' && Number(itsParent) === parent;
  });
}

/** The environment a process was started with, as `NAME=value` lines. */
export function environmentOf(pid: number): string[] {
  return (readProc(pid, 'environ') ?? '').split('\0').filter((line) => line !== '');
}

export function commandLineOf(pid: number): string[] {
  return (readProc(pid, 'cmdline') ?? '').split('\0');
}

/** How many descriptors a process has open. */
export function descriptorCount(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Resident memory in bytes. */
export function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(pid, 'status') ?? '')?.[1];
  if (kib === undefined) throw new Error(`no such process: ${pid}`);
  return Number(kib) * 1024;
}

/** Sends SIGKILL to one process, which may be gone already. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function allProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

/** The fields of `/proc/PID/stat` from the state on: state, parent, group, … The name before them may hold blanks. */
function statFields(pid: number): string[] {
  const stat = readProc(pid, 'stat') ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** What its descriptors point at. */
function descriptorsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).map((name) => {
      try {
        return readlinkSync(`${folder}/${name}`);
      } catch {
        return '';
      }
    });
  } catch {
    return [];
  }
}

function readProc(pid: number | 'self', name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}
