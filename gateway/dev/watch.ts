import { basename, relative, sep } from 'node:path';
import { watch } from 'chokidar';
import type { FSWatcher } from 'chokidar';
import type { Clock } from '../clock.ts';
import { isPassedOver, marksPack, MAX_DEPTH } from './find.ts';
import { WatchedFolders } from './watchedFolders.ts';

/** How long nothing may happen before a save counts as done: an editor's rename and a formatter behind it are one save. */
const SETTLE_MS = 30;

/** Where something is written without end, it is looked at all the same after this time. */
const MAX_SETTLE_MS = 1_000;

/** How often files are looked at where they cannot be watched. */
const POLL_MS = 300;

/** How long after something came or went it is looked whether the folders are still those that are watched. */
const LOOK_MS = 100;

/** So far the times of files may be behind the clock: they are taken from its last tick. */
const FILE_CLOCK_MS = 10;

/** What one watcher is to see. */
export interface WatchOptions {
  readonly clock: Clock;
  /** Absolute. */
  readonly folders: readonly string[];
  /** Which files and folders, by absolute path. Default: all that an author edits. */
  readonly isIgnored?: (path: string) => boolean;
  /** Folders below this depth are not seen. Default: all are. */
  readonly depth?: number;
  /** These files were touched, none of them for a moment; absolute paths. `since`: when the first was, on the clock. */
  readonly onChange: (paths: ReadonlySet<string>, since: number) => void;
  /** Something cannot be watched: the system has no watches or descriptors left. Said once; files are polled then. */
  readonly onTrouble: (error: Error) => void;
}

/**
 * Watches folders until it is closed, whatever happens to them. Changes come together, not one by one.
 *
 * A folder that is replaced by another of the same name within a moment, as a checkout does it, is the same folder to
 * chokidar 5, which goes on watching the one that is gone. So it is looked whether the watched folders are still those
 * that are there, and if not, all is watched anew.
 */
export class FolderWatch {
  readonly #options: WatchOptions;
  readonly #touched = new Set<string>();
  #folders = new WatchedFolders();
  #watcher: FSWatcher;
  #since = 0;
  #cancelSettling: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  #isPolling = false;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#watcher = this.#open(false);
  }

  /** The watch may have stopped seeing: polling, which asks nothing of the system, takes its place. */
  giveUp(error: Error): void {
    if (this.#isClosed || this.#isPolling) return;
    this.#isPolling = true;
    this.#options.onTrouble(error);
    this.#reopen();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelSettling?.();
    this.#cancelLook?.();
    await this.#watcher.close();
  }

  #open(isAgain: boolean): FSWatcher {
    const { folders, depth } = this.#options;
    const from = Date.now() - FILE_CLOCK_MS;
    const known = new WatchedFolders();
    this.#folders = known;
    const watcher = watch([...folders], {
      ignored: (path) => this.#isIgnored(path),
      alwaysStat: true,
      // What settles here need not settle there, too.
      atomic: false,
      usePolling: this.#isPolling,
      interval: POLL_MS,
      ...(depth !== undefined && { depth }),
    });
    let isReady = false;
    watcher.on('all', (event, path, stats) => {
      if (event === 'addDir' && stats !== undefined) known.add(path, stats);
      // While it looks around for the first time, only what is written meanwhile is a change.
      if (isReady || (stats !== undefined && stats.mtimeMs >= from)) this.#touch(path);
    });
    watcher.on('ready', () => {
      isReady = true;
      // What changed while nobody looked is not known.
      if (isAgain) for (const folder of folders) this.#touch(folder);
    });
    watcher.on('raw', (event) => {
      if (event === 'rename') this.#lookSoon();
    });
    watcher.on('error', (error) => {
      if (watcher === this.#watcher) this.giveUp(error as Error);
    });
    return watcher;
  }

  #reopen(): void {
    void this.#watcher.close();
    this.#watcher = this.#open(true);
  }

  #lookSoon(): void {
    this.#cancelLook ??= this.#options.clock.after(LOOK_MS, () => {
      const folders = this.#folders;
      void folders.look(this.#options.folders).then((found) => {
        this.#cancelLook = undefined;
        if (this.#isClosed || folders !== this.#folders) return;
        if (found === 'others') this.#reopen();
        if (found === 'missing') this.#lookSoon();
      });
    });
  }

  #isIgnored(path: string): boolean {
    const { folders, isIgnored } = this.#options;
    const root = folders.find((folder) => path === folder || path.startsWith(folder + sep));
    const inside = root === undefined ? [basename(path)] : relative(root, path).split(sep);
    return inside.some((name) => name !== '' && isPassedOver(name)) || isIgnored?.(path) === true;
  }

  #touch(path: string): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    if (this.#touched.size === 0) this.#since = clock.now();
    this.#touched.add(path);
    const spentMs = clock.now() - this.#since;
    this.#cancelSettling?.();
    this.#cancelSettling = clock.after(Math.max(0, Math.min(SETTLE_MS, MAX_SETTLE_MS - spentMs)), () => {
      const touched = new Set(this.#touched);
      this.#touched.clear();
      this.#options.onChange(touched, this.#since);
    });
  }
}

/** Sees packs come and go below `folders`, but for what happens inside those that are known. */
export function watchForPacks(
  options: Omit<WatchOptions, 'isIgnored' | 'depth'> & { readonly isKnown: (path: string) => boolean },
): FolderWatch {
  const { isKnown, ...rest } = options;
  return new FolderWatch({
    ...rest,
    depth: MAX_DEPTH,
    // Files other than those that mark a pack have a dot or are in nobody's way: a folder with a dot is no loss.
    isIgnored: (path) => isKnown(path) || (basename(path).includes('.') && !marksPack(basename(path))),
  });
}
