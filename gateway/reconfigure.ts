import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Reread } from './admin/host.ts';
import type { Clock } from './clock.ts';
import { changesBetween, nameOf } from './config/changes.ts';
import type { Configuration } from './config/configuration.ts';
import { IndexDigests } from './config/indexDigests.ts';
import type { Loaded } from './config/load.ts';
import { problemText, warningText } from './config/problem.ts';
import type { Problem, Warning } from './config/problem.ts';
import { SourceWatch } from './config/watch.ts';
import type { Applied, Gateway } from './gateway.ts';

/** What changes while it runs. */
export type Reconfigurable = Pick<Gateway, 'apply' | 'indexChanged'>;

export interface ReconfigurationDeps {
  readonly gateway: Reconfigurable;
  /** The configuration that `gateway` was opened with. */
  readonly configuration: Configuration;
  /** Reads it again. */
  readonly read: () => Promise<Loaded>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Takes the gateway from one configuration to the next: when told to, and when a file of it changes. What is not good
 * in every part changes nothing and says why. One reading at a time.
 */
export class Reconfiguration {
  readonly #deps: ReconfigurationDeps;
  readonly #watch: SourceWatch;
  readonly #indexes = new IndexDigests();
  #applied: Configuration;
  /** Problems of the last reading; none when it was good. */
  #problems: readonly string[] = [];
  /** A change was seen and not read: something was written meanwhile, and everything is read after that. */
  #isBehind = false;
  #isClosed = false;
  /** Everything is done one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  /** A reading that was asked for and has not begun: it is good for all who ask meanwhile. */
  #next: Promise<Reread> | undefined;

  constructor(deps: ReconfigurationDeps) {
    this.#deps = deps;
    this.#applied = deps.configuration;
    this.#watch = new SourceWatch({
      clock: deps.clock,
      onChange: (sources) => void this.#inTurn(() => this.#afterChange(sources)),
      onTrouble: (folder, error) =>
        deps.log.warn(
          { event: 'config-not-watched', folder, code: (error as NodeJS.ErrnoException).code },
          'changes of the configuration may go unseen: SIGHUP still reads it again',
        ),
    });
  }

  /** Begins to watch. What changed since the configuration was read is found, too. */
  open(): void {
    void this.#inTurn(async () => {
      await this.#indexes.follow(indexesOf(this.#applied));
      await this.#watch.watch(this.#applied.sources);
    });
  }

  /** Reads the configuration again; the indexes that are served are looked at, too. Never rejects. */
  reread(): Promise<Reread> {
    this.#next ??= this.#inTurn(async () => {
      this.#next = undefined;
      return this.#reread(true);
    }).then((reread) => reread ?? { ok: false, problems: ['an internal error, which the log has'] });
    return this.#next;
  }

  /** From now on nothing is changed any more. */
  close(): void {
    this.#isClosed = true;
    this.#watch.close();
  }

  /** A bug met here is logged and no more: the tenants are served as before, or as far as the change came. */
  #inTurn<T>(work: () => Promise<T>): Promise<T | undefined> {
    const done = this.#last.then(work).catch((error: unknown) => {
      this.#deps.log.error({ event: 'internal-error', err: error }, 'a bug of packgate: the configuration stays');
      return undefined;
    });
    this.#last = done;
    return done;
  }

  async #afterChange(sources: ReadonlySet<string>): Promise<void> {
    const served = indexesOf(this.#applied);
    if (!this.#isBehind && [...sources].every((source) => served.has(source))) {
      const { changed, missing } = await this.#indexes.look(sources);
      this.#tellOfIndexes(changed, this.#applied);
      if (missing.length === 0) return;
    }
    await this.#reread(false);
  }

  /** Undefined where it has to be done again, and will be. */
  async #reread(isAsked: boolean): Promise<Reread | undefined> {
    // In this order: who writes an index and then its new hash is not to be taken at the index alone.
    const { changed: changedIndexes } = await this.#indexes.look(indexesOf(this.#applied));
    const loaded = await this.#deps.read();
    this.#isBehind = !isAsked && (await this.#isBeingWritten());
    if (this.#isBehind) {
      this.#tellOfIndexes(changedIndexes, this.#applied);
      return undefined;
    }
    if (this.#isClosed) return { ok: false, problems: ['the gateway is draining'] };
    const before = this.#applied;
    const applied = 'problems' in loaded ? undefined : this.#take(loaded.configuration, loaded.warnings, isAsked);
    const withNewIndex = this.#tellOfIndexes(changedIndexes, before);
    await this.#indexes.follow(indexesOf(this.#applied));
    // What is wrong may be mended in a file that is not among those of the configuration that runs.
    await this.#watch.watch([...new Set([...this.#applied.sources, ...loaded.sources])]);
    if (applied === undefined) return this.#reject('problems' in loaded ? loaded.problems : [], isAsked);
    return { ok: true, ...applied, changed: [...new Set([...applied.changed, ...withNewIndex])] };
  }

  /**
   * A part of a file may be a good configuration, with half of the tenants. The watch knows of a write that happened
   * while it was read once the event loop has been to the system again: between two timers it has.
   */
  async #isBeingWritten(): Promise<boolean> {
    const { clock } = this.#deps;
    await new Promise<void>((resolve) => void clock.after(1, () => clock.after(1, resolve)));
    return this.#watch.isSettling;
  }

  #take(configuration: Configuration, warnings: readonly Warning[], isAsked: boolean): Applied {
    const { gateway, configuration: first, log } = this.#deps;
    // Told again at every reading until the gateway has been started anew.
    const { needsRestart } = changesBetween(first, configuration);
    const isSame = isSameButForSources(this.#applied, configuration);
    const applied = isSame ? NOTHING : gateway.apply(configuration);
    this.#applied = configuration;
    if (!isSame) {
      for (const warning of warnings) log.warn({ event: 'config-warning' }, warningText(warning));
      log.info({ event: 'config-applied', ...applied, needsRestart }, appliedText(needsRestart));
    } else if (isAsked || this.#problems.length > 0) {
      log.info({ event: 'config-unchanged', needsRestart }, 'the configuration is the one that runs');
    }
    this.#problems = [];
    return { ...applied, needsRestart };
  }

  #reject(problems: readonly Problem[], isAsked: boolean): Reread {
    const texts = problems.map(problemText);
    // Said once, however often a file with the same problems is touched.
    if (isAsked || !isDeepStrictEqual(texts, this.#problems)) {
      for (const text of texts) this.#deps.log.error({ event: 'config-rejected' }, text);
    }
    this.#problems = texts;
    return { ok: false, problems: texts };
  }

  /** Returns the names of deployments that serve one of these, and are not started anew with it anyway. */
  #tellOfIndexes(paths: readonly string[], before: Configuration): string[] {
    if (this.#isClosed) return [];
    const { gateway, log } = this.#deps;
    const { added, changed } = changesBetween(before, this.#applied);
    const isNew = new Set([...added, ...changed.filter(({ isReplace }) => isReplace).map(({ settings }) => settings)]);
    const names: string[] = [];
    for (const path of paths) {
      const serving = this.#applied.deployments.filter(({ index }) => index === path);
      const deployments = serving.filter((settings) => !isNew.has(settings)).map(nameOf);
      if (deployments.length === 0) continue;
      log.info({ event: 'index-changed', path, deployments }, 'an index that is served has changed');
      gateway.indexChanged(path);
      names.push(...deployments);
    }
    return names;
  }
}

const NOTHING: Applied = { added: [], removed: [], changed: [], needsRestart: [] };

function indexesOf({ deployments }: Configuration): ReadonlySet<string> {
  return new Set(deployments.flatMap(({ index }) => index ?? []));
}

/** Which files a configuration was read from is nothing that runs otherwise. */
function isSameButForSources(before: Configuration, after: Configuration): boolean {
  return isDeepStrictEqual({ ...before, sources: [] }, { ...after, sources: [] });
}

function appliedText(needsRestart: readonly string[]): string {
  if (needsRestart.length === 0) return 'the configuration was applied';
  return `the configuration was applied, but for ${needsRestart.join(', ')}: restart the gateway for that`;
}
