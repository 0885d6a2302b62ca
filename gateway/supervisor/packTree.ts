import { lstat, opendir, readlink, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** What a pack's folder holds, as far as it is the pack. Paths are relative to `root`, sorted, parents first. */
export interface PackTree {
  /** The folder as configured. */
  readonly path: string;
  /** The folder, links resolved: a link that is turned to another release later does not lead there. */
  readonly root: string;
  readonly entries: readonly TreeEntry[];
  /** Why no copy of it can be made; completes "no copy of its code is kept: …". */
  readonly trouble: string | undefined;
}

export type TreeEntry =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly stamp: string; readonly isExecutable: boolean }
  /** `target` as it has to be written in a copy of the tree. */
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  /** Not the pack's code, and used by all builds alike: installed packages and what the pack writes. */
  | { readonly kind: 'shared'; readonly path: string };

/** Most that is copied of a pack; more is a pack with something in its folder that is none of its code. */
export const MAX_TREE_ENTRIES = 5_000;
export const MAX_TREE_BYTES = 64 * 1024 * 1024;

const PASSED_OVER = new Set([
  '.git',
  '.hg',
  '.svn',
  '__pycache__',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
  '.packgate',
]);
const SHARED_FOLDERS = new Set(['node_modules', '.venv']);
/** What programs append to or keep their state in. A pack that writes anything else into its folder changes its code. */
const DATA = /\.(?:log|pid|jsonl|ndjson|(?:db|sqlite3?)(?:-wal|-shm|-journal)?)$/;

export interface TreeOptions {
  /** A folder that is passed over wherever it is: the gateway's own. */
  readonly except: string;
  readonly signal: AbortSignal;
}

/** Looks at a pack's folder. Never throws: what cannot be read is its `trouble`. */
export async function readTree(path: string, { except, signal }: TreeOptions): Promise<PackTree> {
  const walk = new Walk(await resolved(path), await resolved(except), signal);
  try {
    await walk.folder('');
  } catch (cause) {
    walk.trouble ??= (cause as Error).message;
  }
  const entries = walk.entries.toSorted((left, right) => (left.path < right.path ? -1 : 1));
  return { path, root: walk.root, entries, trouble: walk.trouble };
}

/** When this is the same, so are a file's bytes. */
export async function stampOf(path: string): Promise<string> {
  return describe(await lstat(path, { bigint: true }));
}

function describe({ size, mtimeNs, ctimeNs, ino }: Stamped): string {
  return [size, mtimeNs, ctimeNs, ino].join(':');
}

type Stamped = { readonly [Name in 'size' | 'mtimeNs' | 'ctimeNs' | 'ino']: bigint };

function resolved(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

class Walk {
  readonly root: string;
  readonly entries: TreeEntry[] = [];
  trouble: string | undefined;
  readonly #except: string;
  readonly #signal: AbortSignal;
  #bytes = 0n;
  #seen = 0;

  constructor(root: string, except: string, signal: AbortSignal) {
    this.root = root;
    this.#except = except;
    this.#signal = signal;
  }

  async folder(path: string): Promise<void> {
    const looking: Promise<void>[] = [];
    const folders: string[] = [];
    for await (const found of await opendir(join(this.root, path), { bufferSize: 256 })) {
      const inside = join(path, found.name);
      if (this.trouble !== undefined || this.#signal.aborted) break;
      if (PASSED_OVER.has(found.name) || join(this.root, inside) === this.#except) continue;
      this.#seen += 1;
      if (this.#seen > MAX_TREE_ENTRIES) this.trouble = `its folder has more than ${MAX_TREE_ENTRIES} entries`;
      else if (SHARED_FOLDERS.has(found.name) || DATA.test(found.name)) this.#add({ kind: 'shared', path: inside });
      else if (found.isDirectory()) folders.push(inside);
      // Sockets, pipes and devices are nobody's code.
      else if (found.isFile()) looking.push(this.#noting(this.#file(inside)));
      else if (found.isSymbolicLink()) looking.push(this.#noting(this.#link(inside)));
    }
    await Promise.all(looking);
    for (const inside of folders) await this.#subfolder(inside);
  }

  async #subfolder(path: string): Promise<void> {
    // A virtual environment under another name than `.venv`.
    const isVirtual = await lstat(join(this.root, path, 'pyvenv.cfg')).catch(() => undefined);
    this.#add({ kind: isVirtual ? 'shared' : 'folder', path });
    if (!isVirtual) await this.#noting(this.folder(path));
  }

  /** What went away while it was looked at is not there; anything else is no reason not to look at the rest. */
  async #noting(looking: Promise<void>): Promise<void> {
    await looking.catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') this.trouble ??= cause.message;
    });
  }

  async #file(path: string): Promise<void> {
    const stats = await lstat(join(this.root, path), { bigint: true });
    this.#bytes += stats.size;
    if (this.#bytes > MAX_TREE_BYTES) this.trouble ??= `its folder has more than ${MAX_TREE_BYTES >> 20} MiB`;
    this.#add({ kind: 'file', path, stamp: describe(stats), isExecutable: (stats.mode & 0o111n) !== 0n });
  }

  async #link(path: string): Promise<void> {
    const folder = dirname(join(this.root, path));
    const text = await readlink(join(this.root, path));
    const target = resolve(folder, text);
    const isInside = target === this.root || target.startsWith(this.root + sep);
    this.#add({ kind: 'link', path, target: isInside ? relative(folder, target) || '.' : target });
  }

  #add(entry: TreeEntry): void {
    this.entries.push(entry);
  }
}
