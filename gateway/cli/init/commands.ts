import { basename, dirname, join, relative } from 'node:path';
import { isOnPath } from '../../config/files.ts';
import type { Io } from '../command.ts';

/** What somebody types in a shell to get from what `init` wrote to an answered call. */
export async function nextCommands(
  { root, folder, id }: { readonly root: string; readonly folder: string; readonly id: string },
  io: Io,
): Promise<string[]> {
  const program = await programText(root, folder, io);
  const target = within(io.cwd, folder) ? relative(io.cwd, folder) : folder;
  const enter = target === '' ? '' : `cd ${quoted(target.startsWith('-') ? `./${target}` : target)} && `;
  return [
    `${enter}export PACKGATE_TOKEN=$(node -p 'crypto.randomBytes(24).toString("hex")')`,
    `${program} serve 2>packgate.log &`,
    `${program} invoke ${id}.hello '{"name":"you"}' --wait 30s`,
  ];
}

/** How this program is started from `folder`: as a project's package, as one of the machine's, or from a clone. */
async function programText(root: string, folder: string, { env }: Io): Promise<string> {
  const modules = dirname(root);
  if (basename(modules) === 'node_modules') {
    // Not by npx: a signal to that does not reach the program.
    if (within(dirname(modules), folder)) return quoted(relative(folder, join(modules, '.bin', 'packgate')));
    if (await isOnPath('packgate', env.PATH ?? '')) return 'packgate';
  }
  return `node ${quoted(join(root, 'dist', 'gateway', 'main.js'))}`;
}

function within(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
