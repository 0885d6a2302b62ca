import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ENV } from '../../shared/process/contract.ts';
import { forgetMark, isMark, MARK_NAME, marksFolder } from './mark.ts';
import { groupOf } from './portOwner.ts';
import { killLeftover } from './process.ts';

/** A process that bears the mark of a gateway that is gone. */
interface Leftover {
  readonly pid: number;
  /** The tenant it was started for. */
  readonly tenant?: string;
  readonly command: string;
  /** Its group goes with it, also those members that cleared their environment. */
  readonly leadsGroup: boolean;
}

/** How often is looked again: what is killed needs a moment to go, and may have started something meanwhile. */
const ROUNDS = 20;
const ROUND_MS = 50;

/** Processes whose environment is read at once; a machine may have many, and descriptors are few. */
const AT_ONCE = 32;

/**
 * Ends what earlier gateways of this state folder left behind: processes in whose environment one of their marks
 * stands. Call it with the folder locked and before anything is started; never throws. It stands behind the watchdog
 * and the tether, for a machine without a shell or one whose watchdog was killed, too.
 *
 * Safety: nothing is ended that does not bear a mark, whatever stands in the state folder; never `init` or this process.
 */
export async function sweepLeftovers(stateDir: string, log: Logger): Promise<void> {
  const marks = new Set((await readdir(marksFolder(stateDir)).catch(() => [])).filter((name) => isMark(name)));
  if (marks.size === 0) return;
  const ended = new Map<number, Leftover>();
  const ownGroup = await groupOf('self');
  let left = await findLeftovers(marks);
  for (let round = 0; round < ROUNDS && left.length > 0; round += 1) {
    for (const leftover of left) {
      ended.set(leftover.pid, leftover);
      killLeftover(leftover.pid, leftover.leadsGroup && leftover.pid !== ownGroup);
    }
    await pause(ROUND_MS);
    left = await findLeftovers(marks);
  }
  if (ended.size > 0) {
    const processes = [...ended.values()];
    log.warn({ event: 'leftovers-ended', processes }, 'ended processes that an earlier gateway had left behind');
  }
  if (left.length > 0) {
    log.error(
      { event: 'leftovers', processes: left },
      'processes of an earlier gateway cannot be ended: end them by hand',
    );
    return;
  }
  for (const mark of marks) forgetMark(stateDir, mark);
}

async function findLeftovers(marks: ReadonlySet<string>): Promise<Leftover[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const found: (Leftover | undefined)[] = [];
  for (let at = 0; at < pids.length; at += AT_ONCE) {
    found.push(...(await Promise.all(pids.slice(at, at + AT_ONCE).map((pid) => leftoverOf(pid, marks)))));
  }
  return found.filter((leftover) => leftover !== undefined);
}

/** The process, if it bears one of the marks. A zombie has no environment any more, and needs no end. */
async function leftoverOf(pid: number, marks: ReadonlySet<string>): Promise<Leftover | undefined> {
  if (pid === 1 || pid === process.pid) return undefined;
  const environment = (await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')).split('\0');
  const mark = valueOf(environment, MARK_NAME);
  if (mark === undefined || !marks.has(mark)) return undefined;
  const [command = ''] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  const tenant = valueOf(environment, ENV.tenantId);
  return { pid, command, leadsGroup: (await groupOf(pid)) === pid, ...(tenant !== undefined && { tenant }) };
}

function valueOf(environment: readonly string[], name: string): string | undefined {
  return environment.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
}
