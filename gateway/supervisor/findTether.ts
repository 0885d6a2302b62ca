import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { startProcess } from './process.ts';

const UNHEARD = { onStdout: () => undefined, onStderr: () => undefined };

/**
 * Looks through a PATH for a `setpriv` (util-linux) that can send a process a signal when its parent ends, and tries it
 * once. Returns its absolute path; undefined where there is none.
 */
export async function findTether(path: string | undefined): Promise<string | undefined> {
  const files = (path?.split(delimiter) ?? []).filter((folder) => isAbsolute(folder));
  for (const file of files.map((folder) => join(folder, 'setpriv'))) {
    if (!(await isExecutable(file))) continue;
    // Others have no `--pdeathsig`. One that has executes itself once more and tells its version.
    const spec = { command: file, args: ['--version'], cwd: '/', env: {} };
    const exit = await startProcess(spec, UNHEARD, { tether: file }).finished;
    if (exit.kind === 'code' && exit.code === 0) return file;
  }
  return undefined;
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
