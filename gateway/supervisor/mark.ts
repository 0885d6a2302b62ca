import { randomBytes } from 'node:crypto';
import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * In the environment of everything a gateway starts, and of everything that starts in turn, also where it has left its
 * group: whose it is. The value is of one run of one gateway, so that a process can be recognised as left behind
 * without trusting a number, which may be another's by then. Who starts something with an emptied environment in a
 * session of its own means to get away, and does: only a pid namespace holds that.
 *
 * Named like a service's own variable, because the services unset all others before pack code loads (C8).
 */
export const MARK_NAME = 'KINDGI_PACKGATE_MARK';

const MARK_PATTERN = /^[0-9a-f]{32}$/;

export function createMark(): string {
  return randomBytes(16).toString('hex');
}

export function isMark(text: string): boolean {
  return MARK_PATTERN.test(text);
}

/** One empty file per run, named by its mark: there is nothing in it that could be cut or forged. */
export function marksFolder(stateDir: string): string {
  return join(stateDir, 'marks');
}

/** Notes a mark for the next gateway of this state folder. Not synced: it is for a gateway's crash, not the machine's. */
export function noteMark(stateDir: string, mark: string): void {
  mkdirSync(marksFolder(stateDir), { recursive: true, mode: 0o700 });
  writeFileSync(join(marksFolder(stateDir), mark), '', { mode: 0o600 });
}

/** Nothing is left of the run with this mark. */
export function forgetMark(stateDir: string, mark: string): void {
  try {
    unlinkSync(join(marksFolder(stateDir), mark));
  } catch {
    // It was never noted, or the folder is gone: there is nothing to forget.
  }
}
