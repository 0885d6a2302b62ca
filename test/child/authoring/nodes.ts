import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { findRealServices } from '../../support/realServices.ts';
import { CHILD_MAIN, packFolder, runCommand } from '../support/child.ts';
import type { Folder } from '../support/folder.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The package whose build is tested, as somebody would install it. */
export const PACKAGE = dirname(dirname(dirname(CHILD_MAIN)));

const real = findRealServices();

/** The Nodes to run packs on: this one, and the newer one that `kindgi-cli` brings, where it is found. */
export const NODES: readonly { readonly name: string; readonly node: string }[] = [
  { name: `Node ${process.versions.node}`, node: process.execPath },
  ...(real.isFound ? [{ name: 'the Node of kindgi-cli', node: real.nodeService[0] }] : []),
];

/** Puts a fixture pack outside this project, with nothing installed but what is named. */
export function copyPack(folder: Folder, name: string, packages: readonly string[] = []): string {
  const pack = folder.file(name);
  cpSync(packFolder(name), pack, { recursive: true });
  for (const wanted of packages) install(pack, wanted, join(ROOT, 'node_modules', wanted));
  return pack;
}

/** Links a package into a pack's `node_modules`. */
export function install(pack: string, name: string, target: string): void {
  const link = join(pack, 'node_modules', name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(target, link);
}

export const PINNED = ['--artifact-version', '20260101.1', '--published-at', '2026-01-01T00:00:00.000Z'] as const;

/** Indexes a pack with everything pinned; its file errors fail the test. */
export async function indexPinned(
  pack: string,
  output: string,
  { node, args = [], env = {} }: { node?: string; args?: readonly string[]; env?: Record<string, string> } = {},
): Promise<void> {
  const all = ['index', '--pack-dir', pack, '--output', output, '--strict', ...PINNED, ...args];
  const { code, stdout, stderr } = await runCommand(all, { env, ...(node !== undefined && { node }) });
  if (code !== 0) throw new Error(`${pack} cannot be indexed: ${stdout}${stderr}`);
}
