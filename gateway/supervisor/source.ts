import { mkdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { DeploymentSettings } from '../config/configuration.ts';
import { runtimeOf } from '../runtimes/index.ts';
import type { HostEnv } from '../runtimes/index.ts';
import { Builds, removeAllBut } from './builds.ts';
import { CodeHash } from './codeHash.ts';
import { BuildHistory } from './buildHistory.ts';
import type { Served } from './buildHistory.ts';
import { checkHash } from './indexFile.ts';
import type { IndexFacts } from './indexFile.ts';
import { indexOf } from './packIndex.ts';
import type { FoundIndex } from './packIndex.ts';
import { readTree } from './packTree.ts';
import type { PackTree } from './packTree.ts';
import type { Launch } from './process.ts';
import type { InstanceRecipe, PrepareOrder, Source } from './recipe.ts';
import { relocate } from './relocate.ts';
import { linkShared } from './snapshot.ts';
import { Snapshots } from './snapshots.ts';
import { StartFailure } from './startFailure.ts';
import { deploymentFolder } from './stateDir.ts';
import type { DeploymentFolder } from './stateDir.ts';
import { Turns } from './turns.ts';

/** Our own Node pack service; started by path, never imported. */
export const CHILD_PROGRAM = fileURLToPath(new URL('../../child/main.js', import.meta.url));

export interface SourceOptions {
  readonly stateDir: string;
  readonly hostEnv: HostEnv;
  readonly launch: Launch;
  readonly log: Logger;
  /** Refuse an instance whose port cannot be shown to be its own: where several tenants share the machine. */
  readonly requiresPortProof: boolean;
}

/** A build, and what it is needed for until its code has been copied. */
interface Prepared extends Served {
  readonly index: IndexFacts;
  readonly tree?: PackTree;
}

/** How long a copy of the code that is being made may take at the end; without it there is nothing to go back to. */
const LAST_COPY_MS = 500;

/**
 * Makes what a deployment's instances are started from: builds of its pack, in its folder under `stateDir`.
 *
 * Safety: what an instance was started from is there, unchanged, until its process is gone, and so are the builds that
 * are served and gone back to. An order that fails changes nothing of them. Orders are carried out one after the other.
 */
export class PackSource implements Source {
  readonly #options: SourceOptions;
  readonly #folder: DeploymentFolder;
  readonly #log: Logger;
  readonly #builds: Builds;
  readonly #snapshots: Snapshots;
  readonly #history: BuildHistory;
  readonly #codeHash = new CodeHash();
  readonly #turns = new Turns();
  readonly #prepared = new WeakMap<InstanceRecipe, Prepared>();
  /** Processes of each build. */
  readonly #users = new Map<string, number>();
  #settings: DeploymentSettings;
  #isTidied = false;
  #isClosed = false;

  constructor(settings: DeploymentSettings, options: SourceOptions) {
    const { tenantId, name } = settings;
    this.#settings = settings;
    this.#options = options;
    this.#folder = deploymentFolder(options.stateDir, tenantId, name);
    this.#log = options.log.child({ tenant: tenantId, deployment: name });
    this.#builds = new Builds(this.#folder.buildsDir);
    this.#snapshots = new Snapshots(this.#builds, this.#log);
    this.#history = new BuildHistory(this.#folder.servingPath, {
      log: this.#log,
      basis: basisOf(settings),
      reload: `packgate reload ${tenantId}/${name}`,
    });
  }

  async prepare({ isFresh, signal }: PrepareOrder): Promise<InstanceRecipe> {
    // Now, not when its turn comes: what was chosen is for this start, and for no later one if this one is given up.
    const chosen = this.#history.takeChosen();
    try {
      return await this.#turns.take(signal, async () => {
        const settings = this.#settings;
        await this.#tidy();
        const prepared = await this.#prepare(settings, isFresh ? 'fresh' : chosen, signal);
        signal.throwIfAborted();
        return this.#recipe(settings, prepared);
      });
    } catch (cause) {
      if (signal.aborted) throw new StartFailure('index', 'cancelled', 'given up before it was launched');
      if (cause instanceof StartFailure) throw cause;
      throw failed(`the index cannot be kept in ${this.#folder.path}: ${(cause as Error).message}`);
    }
  }

  keep(recipe: InstanceRecipe): void {
    const prepared = this.#prepared.get(recipe);
    if (prepared === undefined) return;
    this.#history.keep(prepared);
    // While it serves, not before: the copy would take time from its start.
    if (prepared.tree !== undefined) this.#snapshots.take(prepared.id, prepared.tree);
    this.#clean();
  }

  get previousBuild(): string | undefined {
    return this.#history.previous;
  }

  get isRolledBack(): boolean {
    return this.#history.isRolledBack;
  }

  rollBack(): string | undefined {
    if (this.isRolledBack) return `It is rolled back already; a reload returns to the pack's folder`;
    const id = this.previousBuild;
    if (id === undefined) return 'There is no build before the one that is served';
    const trouble = this.#snapshots.troubleWith(id);
    if (trouble !== undefined) return trouble;
    this.#history.choose(id);
    return undefined;
  }

  update(settings: DeploymentSettings): void {
    this.#settings = settings;
  }

  /**
   * No order comes any more, and nothing of its folder is touched from now on: another gateway, or the deployment added
   * anew, may use it. Settles when what was under way has ended.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const timer = setTimeout(() => this.#snapshots.giveUp(), LAST_COPY_MS);
    await this.settled();
    clearTimeout(timer);
  }

  /** Settles when nothing is prepared, copied or removed. */
  async settled(): Promise<void> {
    await this.#snapshots.settled();
    await this.#turns.finished();
  }

  /** What is `chosen`, a build that is gone back to or a fresh one, else the one that was kept. */
  async #prepare(
    settings: DeploymentSettings,
    chosen: { readonly id: string } | 'fresh' | undefined,
    signal: AbortSignal,
  ): Promise<Prepared> {
    const basis = basisOf(settings);
    if (chosen === 'fresh') return this.#build(settings, signal);
    if (chosen !== undefined) return this.#goBack(settings, { ...chosen, isSnapshot: true, basis }, signal);
    const kept = this.#history.startable(basis);
    if (kept === undefined) return this.#build(settings, signal);
    try {
      if (kept.isSnapshot) return await this.#goBack(settings, kept, signal);
      return { ...kept, index: await this.#builds.read(kept.id) };
    } catch (cause) {
      // Somebody cleared the state folder, or its disk is damaged: better a new build than none.
      const facts = { event: 'build-lost', build: kept.id, err: cause };
      this.#log.warn(facts, "the build that was served is gone; it is made anew of the pack's folder");
      return this.#build(settings, signal);
    }
  }

  /** A build from the copy of its code. */
  async #goBack(settings: DeploymentSettings, build: Served, signal: AbortSignal): Promise<Prepared> {
    await this.#snapshots.finished(build.id);
    const index = await this.#builds.read(build.id);
    const trouble = this.#snapshots.troubleWith(build.id);
    if (trouble !== undefined) throw failed(trouble);
    checkHash(index, settings.indexHash);
    const snapshot = this.#builds.snapshotOf(build.id);
    await linkShared(await readTree(settings.path, { except: this.#options.stateDir, signal }), snapshot);
    return { ...build, index };
  }

  /** A build of the pack's folder as it is now; the same as before when nothing has changed. */
  async #build(settings: DeploymentSettings, signal: AbortSignal): Promise<Prepared> {
    const looking = this.#look(settings.path, signal);
    try {
      const { file, identity } = await this.#index(settings, signal);
      const { tree, code } = await looking;
      const id = Builds.idOf(settings.runtime.kind, identity, code);
      signal.throwIfAborted();
      const index = await this.#builds.add(id, file);
      checkHash(index, settings.indexHash);
      this.#history.found(id);
      return { id, isSnapshot: false, basis: basisOf(settings), index, tree };
    } catch (cause) {
      await looking;
      if (!signal.aborted) this.#history.found(undefined);
      throw cause;
    }
  }

  /** Never rejects: a folder that cannot be read is for the indexer and the service to judge. */
  async #look(path: string, signal: AbortSignal): Promise<{ tree: PackTree; code: string }> {
    const tree = await readTree(path, { except: this.#options.stateDir, signal });
    return { tree, code: await this.#codeHash.of(tree) };
  }

  #index(settings: DeploymentSettings, signal: AbortSignal): Promise<FoundIndex> {
    const { path: folder, bundleDir } = this.#folder;
    const [last] = this.#history.ids;
    return indexOf(settings, {
      ...this.#options,
      childProgram: CHILD_PROGRAM,
      log: this.#log,
      folder,
      bundleDir,
      lastIndex: last === undefined ? undefined : this.#builds.indexOf(last),
      signal,
    });
  }

  #recipe(configured: DeploymentSettings, prepared: Prepared): InstanceRecipe {
    const { id, isSnapshot, index } = prepared;
    const settings = isSnapshot ? relocate(configured, this.#builds.snapshotOf(id)) : configured;
    const runtime = runtimeOf(settings.runtime);
    const { hostEnv, launch, requiresPortProof } = this.#options;
    const context = { indexPath: index.path, childProgram: CHILD_PROGRAM, hostEnv, buildDir: this.#folder.bundleDir };
    const recipe: InstanceRecipe = {
      build: id,
      index,
      requiresPortProof,
      keepsConnections: runtime.keepsConnections,
      bootTimeoutMs: settings.bootTimeoutMs,
      killAfterMs: settings.drainMs + runtime.drainMarginMs,
      concurrency: settings.concurrency,
      launch: (token, sinks) => {
        const process = launch(runtime.launch(settings, { ...context, token }), sinks);
        this.#use(id, process.finished);
        return process;
      },
    };
    this.#prepared.set(recipe, prepared);
    return recipe;
  }

  #use(id: string, finished: Promise<unknown>): void {
    this.#users.set(id, (this.#users.get(id) ?? 0) + 1);
    void finished.then(() => {
      const left = (this.#users.get(id) ?? 0) - 1;
      if (left > 0) this.#users.set(id, left);
      else {
        this.#users.delete(id);
        this.#clean();
      }
    });
  }

  /** Removes the builds that nothing needs any more, and writes down which one is served. */
  #clean(): void {
    void this.#turns.take(undefined, async () => {
      if (this.#isClosed) return;
      await this.#history.save();
      const needed = new Set([...this.#history.ids, ...this.#users.keys(), ...this.#snapshots.underWay]);
      this.#snapshots.retain(needed);
      await this.#builds.removeAllBut(needed);
    });
  }

  /** Sees to it that the folder is there and, once in the gateway's life, that nothing is in it that earlier lives have left. */
  async #tidy(): Promise<void> {
    const { path, buildsDir, bundleDir, servingPath } = this.#folder;
    for (const folder of [buildsDir, bundleDir]) await mkdir(folder, { recursive: true, mode: 0o700 });
    if (this.#isTidied) return;
    await removeAllBut(path, new Set([buildsDir, bundleDir, servingPath].map((one) => basename(one))));
    await this.#builds.removeAllBut(new Set(this.#history.ids));
    this.#isTidied = true;
  }
}

/** What of the settings a build is made by: with others, the pack's folder has to be looked at anew. */
function basisOf({ path, index, indexHash, runtime }: DeploymentSettings): string {
  return Builds.idOf(path, index ?? '', indexHash ?? '', runtime.kind);
}

function failed(message: string): StartFailure {
  return new StartFailure('index', 'index-failed', message);
}
