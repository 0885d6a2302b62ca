import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LaunchedTarget } from '../../gateway/cli/conform/launchedTarget.ts';
import { startProcess } from '../../gateway/supervisor/process.ts';
import { buildPack } from './pack.ts';
import type { Program } from './programs.ts';

/** What runs now; a test run that is cut short leaves none of it behind. */
const running = new Set<LaunchedTarget>();
process.on('exit', () => {
  for (const target of running) target.kill();
});

/** A program that processes can be started of, and how it is given up. */
export interface DirectTarget {
  readonly target: LaunchedTarget;
  /** Ends every process that is left and removes the folder. */
  readonly close: () => Promise<void>;
}

/** Builds the pack's index in a temporary folder that goes with `close`. */
export async function directTargetOf(program: Program): Promise<DirectTarget> {
  const folder = await mkdtemp(join(tmpdir(), 'packgate-contract-'));
  const pack = await buildPack(program.packDir, folder, program.indexer);
  const { name, service: command } = program;
  const target = new LaunchedTarget({ name, command, pack, folder, launch: startProcess, path: process.env.PATH });
  running.add(target);
  return {
    target,
    close: async () => {
      await target.close();
      running.delete(target);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
