import { readFileSync, readdirSync } from 'node:fs';

/** What `/proc` says of the machine's processes. A process that is gone meanwhile simply is not there. */

/** Process ids whose command line contains the text, for example a test's folder. Zombies have no command line. */
export function processesMentioning(text: string): number[] {
  return allProcesses().filter((pid) => readProc(pid, 'cmdline')?.includes(text) === true);
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

function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}
