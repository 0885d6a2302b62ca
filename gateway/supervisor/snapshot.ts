import { constants, existsSync } from 'node:fs';
import { copyFile, mkdir, realpath, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stampOf } from './packTree.ts';
import type { PackTree, TreeEntry } from './packTree.ts';

/**
 * Copies a pack's code to `target`, which appears whole or not at all. Installed packages and what the pack writes are
 * not copied but linked: a copy uses those of the folder.
 *
 * Returns why there is no copy, completing "no copy of its code is kept: …". A file that is not as it was when the tree
 * was read is such a reason: what was started from it may be neither the old nor the new.
 */
export async function takeSnapshot(tree: PackTree, target: string, signal: AbortSignal): Promise<string | undefined> {
  if (tree.trouble !== undefined) return tree.trouble;
  const temporary = `${target}.tmp`;
  try {
    if ((await realpath(tree.path)) !== tree.root) return `${tree.path} leads elsewhere since it started`;
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { recursive: true, mode: 0o700 });
    for (const entry of tree.entries) {
      signal.throwIfAborted();
      const trouble = await copy(entry, tree.root, temporary);
      if (trouble !== undefined) return trouble;
    }
    await linkOuterPackages(tree.root, dirname(target));
    await rename(temporary, target);
    return undefined;
  } catch (cause) {
    return (cause as Error).message;
  } finally {
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Links what of the folder's shared things a copy does not have yet: what the pack has written since. */
export async function linkShared(tree: PackTree, snapshot: string): Promise<void> {
  for (const { kind, path } of tree.entries) {
    const link = join(snapshot, path);
    if (kind === 'shared' && existsSync(dirname(link)) && !existsSync(link)) await linkTo(join(tree.root, path), link);
  }
}

async function copy(entry: TreeEntry, root: string, copyRoot: string): Promise<string | undefined> {
  const from = join(root, entry.path);
  const to = join(copyRoot, entry.path);
  switch (entry.kind) {
    case 'folder':
      await mkdir(to, { mode: 0o700 });
      return undefined;
    case 'link':
      await symlink(entry.target, to);
      return undefined;
    case 'shared':
      await linkTo(from, to);
      return undefined;
    case 'file': {
      await copyFile(from, to, constants.COPYFILE_FICLONE).catch(passOverMissing);
      const stamp = await stampOf(from).catch(passOverMissing);
      return stamp === entry.stamp ? undefined : `${entry.path} changed while it started`;
    }
  }
}

/** Where packages are installed above the pack's folder, as in a workspace, they are found above its copy, too. */
async function linkOuterPackages(root: string, buildFolder: string): Promise<void> {
  for (let folder = dirname(root); ; folder = dirname(folder)) {
    const packages = join(folder, 'node_modules');
    if (existsSync(packages)) return linkTo(packages, join(buildFolder, 'node_modules'));
    if (folder === dirname(folder)) return;
  }
}

/** Replaces a link that leads nowhere, or elsewhere. */
async function linkTo(target: string, link: string): Promise<void> {
  await rm(link, { force: true });
  await symlink(target, link);
}

function passOverMissing(cause: NodeJS.ErrnoException): void {
  if (cause.code !== 'ENOENT') throw cause;
}
