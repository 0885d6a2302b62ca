import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { DeploymentSettings } from '../config/configuration.ts';
import type { Done } from '../supervisor/status.ts';
import { settingsOf } from './hosted.ts';
import type { HostedPack, HostOptions } from './hosted.ts';
import { within } from './lines.ts';
import { OwnWrites } from './ownWrites.ts';
import { DEV_EVENT } from './records.ts';
import { Swaps } from './swaps.ts';
import type { Swapped } from './swaps.ts';
import { FolderWatch } from './watch.ts';

/** What a pack in development needs of the gateway that hosts it. */
export interface HostingDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly host: HostOptions;
  /** It is to be run with other settings. */
  readonly onSettings: () => void;
  /** Has it replaced by what is in its folder now. Settles when that serves, or does not. */
  readonly reload: () => Promise<Done>;
  readonly isServing: () => boolean;
  /** A swap is over; `isFirst`: it serves for the first time. */
  readonly onSwapped: (isFirst: boolean) => void;
  readonly onUnwatched: (what: string, error: Error) => void;
}

/** One pack that is hosted: what it is run with, what is saved in it, and what is told of that. */
export class Hosting {
  readonly pack: HostedPack;
  readonly #deps: HostingDeps;
  readonly #log: Logger;
  readonly #swaps: Swaps;
  readonly #watch: FolderWatch;
  #settings: DeploymentSettings | undefined;
  #problems: readonly string[] = [];
  #hasServed = false;
  #isBroken = false;

  constructor(pack: HostedPack, deps: HostingDeps) {
    const { path, name, tenantId: tenant } = pack;
    const { clock } = deps;
    this.pack = pack;
    this.#deps = deps;
    this.#log = deps.log.child({ tenant });
    const ownWrites = new OwnWrites(clock, (file) => {
      const problem = `${within(path, [file]).join('')} is written by the pack itself: it counts as saved no more`;
      this.#log.warn({ event: DEV_EVENT.problem, problem }, 'a pack writes into its own folder');
    });
    this.#swaps = new Swaps({
      clock,
      swap: () => {
        ownWrites.began();
        return this.#swap().finally(() => ownWrites.ended());
      },
      onSwapped: (swapped) => this.#swapped(swapped),
    });
    this.#watch = new FolderWatch({
      clock,
      folders: [path],
      onChange: (files, since) => {
        const saved = ownWrites.without(files);
        if (saved.size > 0) this.#swaps.saved(saved, since);
      },
      onTrouble: (error) => deps.onUnwatched(`changes of ${name} are seen late`, error),
    });
  }

  /** What it is run with, when last read; undefined where that is not known. */
  get settings(): DeploymentSettings | undefined {
    return this.#settings;
  }

  /** Reads what it is to be run with. Returns whether that is another than before. */
  async read(): Promise<boolean> {
    const { settings, problems } = await settingsOf(this.pack, this.#deps.host);
    for (const problem of problems.filter((text) => !this.#problems.includes(text)))
      this.#log.error({ event: DEV_EVENT.problem, problem }, 'something is wrong around a pack');
    this.#problems = problems;
    // What cannot be read right now stays as it was.
    const isOther = settings !== undefined && problems.length === 0 && !isDeepStrictEqual(this.#settings, settings);
    if (isOther || this.#settings === undefined) this.#settings = settings;
    return isOther;
  }

  /** Has it started, now that the gateway knows it. */
  start(): void {
    this.#swaps.saved(new Set(), this.#deps.clock.now());
  }

  /** Nothing is followed any more. */
  async close(): Promise<void> {
    this.#swaps.close();
    await this.#watch.close();
  }

  async #swap(): Promise<Done> {
    if (await this.read()) this.#deps.onSettings();
    return this.#deps.reload();
  }

  #swapped({ done, durationMs, files }: Swapped): void {
    const facts = { files: within(this.pack.path, files), durationMs: Math.round(durationMs) };
    const isFirst = done.ok && !this.#hasServed;
    if (done.ok) {
      const record = { event: DEV_EVENT.served, ...facts, isFirst, isMended: this.#isBroken };
      this.#log.info(record, 'what was saved serves');
      this.#hasServed = true;
    } else {
      const problems = done.problems.length > 0 ? done.problems : [done.message];
      const record = { event: DEV_EVENT.broken, ...facts, isServing: this.#deps.isServing(), problems };
      this.#log.error(record, 'what was saved does not serve');
    }
    this.#isBroken = !done.ok;
    this.#deps.onSwapped(isFirst);
  }
}
