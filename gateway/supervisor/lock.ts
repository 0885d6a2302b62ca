import { mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Who holds a state folder. Pids come round again; start time and boot id tell a new process from an old one. */
interface Holder {
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
}

/** Another gateway that runs uses this state folder. */
export class StateDirInUse extends Error {
  readonly pid: number;

  constructor(stateDir: string, pid: number) {
    super(`${stateDir} is used by another gateway (pid ${pid}). Stop it, or give this one its own stateDir.`);
    this.name = 'StateDirInUse';
    this.pid = pid;
  }
}

/**
 * Makes this process the only gateway of `stateDir`, which is created if need be (for its owner alone). A lock of a
 * process that is gone is taken over. Returns what gives it back.
 * @throws {StateDirInUse}
 */
export async function lockStateDir(stateDir: string): Promise<() => Promise<void>> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const path = join(stateDir, 'gateway.lock');
  const self = { pid: process.pid, startTime: await startTimeOf(process.pid), bootId: await bootId() };
  for (let attempt = 0; attempt < 3; attempt += 1) {
    if (await create(path, self)) return () => unlink(path).catch(() => undefined);
    const holder = await read(path);
    if (holder !== undefined && (await isRunning(holder))) throw new StateDirInUse(stateDir, holder.pid);
    // Renamed, not removed: of two gateways that find the same stale lock only one gets to take it away.
    const stale = `${path}.stale-${process.pid}`;
    await rename(path, stale).then(
      () => unlink(stale),
      () => undefined,
    );
  }
  throw new Error(`${path} cannot be taken`);
}

async function create(path: string, self: Holder): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(JSON.stringify(self));
    await file.close();
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cause;
  }
}

async function read(path: string): Promise<Holder | undefined> {
  try {
    const value = JSON.parse(await readFile(path, 'utf8')) as Partial<Holder>;
    const { pid, startTime, bootId: boot } = value;
    return typeof pid === 'number' && typeof startTime === 'string' && typeof boot === 'string'
      ? { pid, startTime, bootId: boot }
      : undefined;
  } catch {
    return undefined;
  }
}

async function isRunning(holder: Holder): Promise<boolean> {
  return (
    holder.bootId === (await bootId()) &&
    holder.startTime === (await startTimeOf(holder.pid)) &&
    holder.startTime !== ''
  );
}

/** Field 22 of `/proc/PID/stat`, in clock ticks since boot; empty when there is no such process, or no `/proc`. */
async function startTimeOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

async function bootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')).trim();
}
