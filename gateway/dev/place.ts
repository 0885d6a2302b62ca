import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EXIT } from '../../shared/process/contract.ts';
import { CommandError } from '../cli/command.ts';
import { defaultAdminSocket } from '../config/adminSocket.ts';
import { lockStateDir, StateDirInUse } from '../supervisor/lock.ts';

/**
 * Where the loop over a folder keeps its state: below the system's temporary folder, by a hash of the path, so that
 * nothing of ours appears in the author's repository, and the next loop over the same folder finds it.
 */
export function placeOf(root: string, { tmpDir, uid }: Owner): string {
  const hash = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return join(ownFolder({ tmpDir, uid }), hash);
}

/**
 * The admin sockets of all loops of this user, also of those that have ended. None where the folder around them could be
 * somebody else's.
 */
export async function loopSockets(owner: Owner): Promise<string[]> {
  const own = ownFolder(owner);
  if (!(await isOwn(own, owner.uid))) return [];
  const names = await readdir(own).catch((): string[] => []);
  const sockets = names.map((name) => defaultAdminSocket(join(own, name), owner.tmpDir, owner.uid));
  const areOwn = await Promise.all(sockets.map((socket) => isOwn(dirname(socket), owner.uid)));
  return sockets.filter((_, at) => areOwn[at]);
}

/** Whose temporary folder it is. */
export interface Owner {
  readonly tmpDir: string;
  readonly uid: number;
}

/** Where a loop keeps its state, and what gives back its claims on the other folders. */
export interface Places {
  /** Not locked yet: the gateway does that. */
  readonly stateDir: string;
  readonly release: () => Promise<void>;
}

/**
 * Claims the folders for one loop: there is one per folder. The first one's place is the loop's own.
 * @throws {CommandError} when another loop has one of them.
 */
export async function lockPlaces(roots: readonly string[], owner: Owner): Promise<Places> {
  const [stateDir = '', ...others] = roots.map((root) => placeOf(root, owner));
  const undo: (() => Promise<void>)[] = [];
  const release = async (): Promise<void> => {
    for (const unlock of undo.toReversed()) await unlock();
  };
  try {
    await makePlace(stateDir, owner.uid);
    // Looked at only: the gateway takes it a moment later, and says the same if another was faster.
    await (
      await lockStateDir(stateDir)
    )();
    for (const place of others) undo.push(await lockStateDir(place));
    return { stateDir, release };
  } catch (cause) {
    await release();
    const isTaken = cause instanceof StateDirInUse;
    const what = isTaken ? `another packgate dev (pid ${cause.pid}) has this folder` : (cause as Error).message;
    const hint = isTaken ? `Use that one, or stop it: kill ${cause.pid}.` : 'TMPDIR says where the state is kept.';
    throw new CommandError(EXIT.failed, what, hint);
  }
}

/**
 * Makes the folder, and the one of this user around it, for this user alone. Everybody may write into the temporary
 * folder: who was there first could have put something in our place.
 * @throws {Error} when it belongs to somebody else, or cannot be made.
 */
async function makePlace(place: string, uid: number): Promise<void> {
  const own = join(place, '..');
  await mkdir(own, { recursive: true, mode: 0o700 });
  if (!(await isOwn(own, uid))) {
    throw new Error(`${own} is not a folder of yours alone: remove it, or set TMPDIR to another folder`);
  }
  await mkdir(place, { recursive: true, mode: 0o700 });
}

function ownFolder({ tmpDir, uid }: Owner): string {
  return join(tmpDir, `packgate-dev-${uid}`);
}

/** Whether it is a folder of this user, which nobody else can look into. */
async function isOwn(folder: string, uid: number): Promise<boolean> {
  const stats = await lstat(folder).catch(() => undefined);
  return stats?.isDirectory() === true && stats.uid === uid && (stats.mode & 0o077) === 0;
}
