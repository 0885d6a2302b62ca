import { watch } from 'node:fs';
import type { EventEmitter } from 'node:events';
import type { FSWatcher } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from '../clock.ts';
import { isTenantFile } from './tenantsDir.ts';
import { watchPointsOf } from './watchPoints.ts';

/** Long enough for an editor to have written all of a file, short enough not to be waited for. */
const SETTLE_MS = 200;

export interface WatchDeps {
  readonly clock: Clock;
  /** These sources may have changed; nothing has happened to any for a while. */
  readonly onChange: (sources: ReadonlySet<string>) => void;
  /** Something cannot be watched, for want of descriptors, watches or permission. Said once, until all can be again. */
  readonly onTrouble: (folder: string, error: unknown) => void;
  /** Throws what keeps it from watching. Default: Node's, which keeps no process alive. */
  readonly watchFolder?: (folder: string) => FolderWatcher;
}

/** What is used of Node's watcher of one folder. */
export type FolderWatcher = Pick<FSWatcher, 'close'> & Pick<EventEmitter, 'on'>;

const watchWithNode = (folder: string): FolderWatcher => watch(folder, { persistent: false });

/** What is looked for in one folder: sources by the name whose change is theirs. */
interface Interest {
  readonly byName: Map<string, Set<string>>;
  /** It is itself a source: its tenants' files are, too. */
  listing: string | undefined;
}

interface Watched {
  readonly watcher: FolderWatcher;
  /** Device and inode: a folder that was replaced has to be watched anew. */
  readonly identity: string;
  interest: Interest;
}

/**
 * Watches the files and folders of a configuration. Folders are watched, never files: a file that is renamed over
 * another is a new one, of which a watch on the old one says nothing. Keeps no process alive.
 */
export class SourceWatch {
  readonly #deps: WatchDeps;
  readonly #folders = new Map<string, Watched>();
  readonly #touched = new Set<string>();
  #cancelSettling: (() => void) | undefined;
  /** Folders that could not be watched; tried again at the next `watch`. */
  readonly #troubled = new Set<string>();
  #isClosed = false;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
  }

  /**
   * From now on these are watched, and nothing else. What was not watched before may have changed since it was read, and
   * is taken as touched. One call at a time.
   */
  async watch(sources: readonly string[]): Promise<void> {
    const wanted = await interestsOf(sources);
    for (const folder of this.#troubled) if (!wanted.has(folder)) this.#troubled.delete(folder);
    for (const [folder, { watcher }] of this.#folders) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const [folder, interest] of wanted) {
      const identity = await identityOf(folder);
      const watched = this.#folders.get(folder);
      if (watched !== undefined && watched.identity === identity) watched.interest = interest;
      else if (!this.#isClosed) this.#open(folder, identity, interest);
    }
  }

  /** Something was touched a moment ago, and may still be written. `onChange` follows. */
  get isSettling(): boolean {
    return this.#touched.size > 0;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelSettling?.();
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  #open(folder: string, identity: string, interest: Interest): void {
    this.#folders.get(folder)?.watcher.close();
    this.#folders.delete(folder);
    try {
      const { watchFolder = watchWithNode } = this.#deps;
      const watcher = watchFolder(folder);
      const watched = { watcher, identity, interest };
      watcher.on('change', (_event, name: string | Buffer | null) => this.#onEvent(folder, watched, name));
      watcher.on('error', (error) => {
        watcher.close();
        if (this.#folders.get(folder) === watched) this.#folders.delete(folder);
        this.#trouble(folder, error);
      });
      this.#folders.set(folder, watched);
      this.#troubled.delete(folder);
      this.#touch(allOf(interest));
    } catch (error) {
      this.#trouble(folder, error);
    }
  }

  #trouble(folder: string, error: unknown): void {
    const isFirst = this.#troubled.size === 0;
    this.#troubled.add(folder);
    if (isFirst) this.#deps.onTrouble(folder, error);
  }

  #onEvent(folder: string, { interest }: Watched, name: string | Buffer | null): void {
    // What happens to the folder itself comes under its own name; what nobody can name may be anything.
    if (name === null || name === basename(folder)) this.#touch(allOf(interest));
    else this.#touch(interest.byName.get(String(name)) ?? []);
    if (interest.listing !== undefined && isTenantFile(String(name))) this.#touch([interest.listing]);
  }

  #touch(sources: Iterable<string>): void {
    let hasAny = false;
    for (const source of sources) {
      hasAny = true;
      this.#touched.add(source);
    }
    if (!hasAny || this.#isClosed) return;
    this.#cancelSettling?.();
    this.#cancelSettling = this.#deps.clock.after(SETTLE_MS, () => {
      const touched = new Set(this.#touched);
      this.#touched.clear();
      this.#deps.onChange(touched);
    });
  }
}

async function interestsOf(sources: readonly string[]): Promise<Map<string, Interest>> {
  const interests = new Map<string, Interest>();
  const interestIn = (folder: string): Interest => {
    const interest = interests.get(folder) ?? { byName: new Map(), listing: undefined };
    interests.set(folder, interest);
    return interest;
  };
  for (const source of sources) {
    for (const { folder, name } of await watchPointsOf(source)) {
      const { byName } = interestIn(folder);
      byName.set(name, (byName.get(name) ?? new Set()).add(source));
    }
    const isFolder = (await stat(source).catch(() => undefined))?.isDirectory() === true;
    if (isFolder) interestIn(await realpath(source).catch(() => source)).listing = source;
  }
  return interests;
}

function* allOf({ byName, listing }: Interest): Iterable<string> {
  for (const sources of byName.values()) yield* sources;
  if (listing !== undefined) yield listing;
}

async function identityOf(folder: string): Promise<string> {
  const stats = await stat(folder).catch(() => undefined);
  return stats === undefined ? 'none' : `${stats.dev}:${stats.ino}`;
}
