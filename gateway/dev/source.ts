import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeploymentSettings } from '../config/configuration.ts';
import { runtimeOf } from '../runtimes/index.ts';
import type { LaunchSpec } from '../runtimes/launchSpec.ts';
import { readIndexFile } from '../supervisor/indexFile.ts';
import type { IndexFacts } from '../supervisor/indexFile.ts';
import { runIndexer } from '../supervisor/indexing.ts';
import type { OutputSinks, PackProcess } from '../supervisor/process.ts';
import type { InstanceRecipe, PrepareOrder, Source } from '../supervisor/recipe.ts';
import { CHILD_PROGRAM } from '../supervisor/source.ts';
import type { SourceOptions } from '../supervisor/source.ts';
import { StartFailure } from '../supervisor/startFailure.ts';
import { deploymentFolder } from '../supervisor/stateDir.ts';
import type { Spares } from './spares.ts';

/** What becomes of a launch that somebody follows. */
export interface Following {
  readonly spec: LaunchSpec;
  readonly sinks: OutputSinks;
  readonly onLaunched?: (process: PackProcess) => void;
}

/** Follows the processes of packs, and may have them started otherwise. */
export interface Watcher {
  readonly follow: (settings: DeploymentSettings, spec: LaunchSpec, sinks: OutputSinks) => Following;
}

export interface DevSourceDeps {
  /** Default: nobody. */
  readonly watcher?: Watcher | undefined;
  readonly spares: Spares;
}

interface Built {
  readonly recipe: InstanceRecipe;
  /** Files that are not served, because something is wrong with them. */
  readonly brokenFiles: ReadonlySet<string>;
}

/**
 * What a pack in development is started from: its folder as it is, and an index that was just built. Unlike what serves
 * in earnest it keeps no copies to go back to, and it is strict: a file that was good must not vanish from what is
 * served because somebody is in the middle of changing it.
 */
export class DevSource implements Source {
  readonly previousBuild = undefined;
  readonly isRolledBack = false;
  readonly #options: SourceOptions;
  readonly #watcher: Watcher | undefined;
  readonly #spares: Spares;
  readonly #folder: string;
  readonly #bundleDir: string;
  #settings: DeploymentSettings;
  #isTidied = false;
  #count = 0;
  #kept: Built | undefined;
  readonly #prepared = new WeakMap<InstanceRecipe, Built>();
  /** Orders are carried out one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(settings: DeploymentSettings, options: SourceOptions, { watcher, spares }: DevSourceDeps) {
    this.#settings = settings;
    this.#options = options;
    this.#watcher = watcher;
    this.#spares = spares;
    const { path, bundleDir } = deploymentFolder(options.stateDir, settings.tenantId, settings.name);
    this.#folder = join(path, 'indexes');
    this.#bundleDir = bundleDir;
  }

  /** The index that serves, once one does. */
  get indexPath(): string | undefined {
    return this.#kept?.recipe.index.path;
  }

  prepare({ isFresh, signal }: PrepareOrder): Promise<InstanceRecipe> {
    const turn = this.#last.then(async () => {
      if (signal.aborted) throw new StartFailure('index', 'cancelled', 'given up before it was indexed');
      if (!isFresh && this.#kept !== undefined) return this.#kept.recipe;
      try {
        return await this.#build(this.#settings, signal);
      } catch (cause) {
        if (cause instanceof StartFailure) throw cause;
        throw new StartFailure('index', 'index-failed', (cause as Error).message);
      }
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  keep(recipe: InstanceRecipe): void {
    const before = this.#kept;
    this.#kept = this.#prepared.get(recipe) ?? before;
    if (before !== undefined && before !== this.#kept) void rm(before.recipe.index.path, { force: true });
  }

  /** Has the processes of the next swap started ahead of it. */
  prepareNext(): void {
    const index = this.#indexSpec(this.#settings, '');
    if (index !== undefined) this.#spares.prepare(index);
    const ignore = { onStdout: () => undefined, onStderr: () => undefined };
    this.#spares.prepare(this.#service(this.#settings, '', '', ignore).spec);
  }

  rollBack(): string {
    return 'Nothing is kept to go back to while a pack is developed';
  }

  update(settings: DeploymentSettings): void {
    this.#settings = settings;
  }

  async close(): Promise<void> {
    await this.#last;
  }

  async #build(settings: DeploymentSettings, signal: AbortSignal): Promise<InstanceRecipe> {
    await this.#tidy();
    this.#count += 1;
    const outputPath = join(this.#folder, `${this.#count}.json`);
    // The indexer counts on from the version that it finds (E16).
    if (this.#kept !== undefined) await copyFile(this.#kept.recipe.index.path, outputPath);
    const brokenFiles = await this.#index(settings, outputPath, signal);
    const { facts } = await readIndexFile(outputPath);
    const recipe = this.#recipe(settings, facts);
    this.#prepared.set(recipe, { recipe, brokenFiles });
    return recipe;
  }

  /** Returns the files that are not in the index because of what is wrong with them. */
  async #index(settings: DeploymentSettings, outputPath: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const spec = this.#indexSpec(settings, outputPath);
    if (spec === undefined) throw new StartFailure('index', 'index-failed', 'a command has no indexer');
    const { launch } = this.#spares;
    const report = await runIndexer(spec, { launch, timeoutMs: settings.bootTimeoutMs, signal });
    const brokenFiles = new Set(report.fileErrors.map(fileOf));
    const kept = this.#kept?.brokenFiles;
    if (kept !== undefined && [...brokenFiles].some((file) => !kept.has(file))) {
      const count = report.fileErrors.length === 1 ? 'a file' : `${report.fileErrors.length} files`;
      throw new StartFailure('index', 'index-failed', `${count} cannot be served`, report.fileErrors);
    }
    const { log } = this.#options;
    const { tenantId: tenant, name: deployment } = settings;
    for (const problem of report.fileErrors)
      log.error({ event: 'file-error', tenant, deployment, problem }, 'a file of the pack is not served');
    for (const problem of report.warnings)
      log.warn({ event: 'index-warning', tenant, deployment, problem }, 'the indexer warns');
    return brokenFiles;
  }

  #recipe(settings: DeploymentSettings, index: IndexFacts): InstanceRecipe {
    const runtime = runtimeOf(settings.runtime);
    return {
      build: index.artifactVersion,
      index,
      // One author's packs on the author's own machine, which may have no `/proc`.
      requiresPortProof: false,
      keepsConnections: runtime.keepsConnections,
      bootTimeoutMs: settings.bootTimeoutMs,
      killAfterMs: settings.drainMs + runtime.drainMarginMs,
      concurrency: settings.concurrency,
      launch: (token, sinks) => {
        const following = this.#service(settings, index.path, token, sinks);
        const process = this.#spares.launch(following.spec, following.sinks);
        following.onLaunched?.(process);
        return process;
      },
    };
  }

  #indexSpec(settings: DeploymentSettings, outputPath: string): LaunchSpec | undefined {
    const { hostEnv } = this.#options;
    const context = { outputPath, childProgram: CHILD_PROGRAM, hostEnv, buildDir: this.#bundleDir };
    return runtimeOf(settings.runtime).index(settings, context);
  }

  #service(settings: DeploymentSettings, indexPath: string, token: string, sinks: OutputSinks): Following {
    const { hostEnv } = this.#options;
    const context = { token, indexPath, childProgram: CHILD_PROGRAM, hostEnv, buildDir: this.#bundleDir };
    const spec = runtimeOf(settings.runtime).launch(settings, context);
    return this.#watcher?.follow(settings, spec, sinks) ?? { spec, sinks };
  }

  /** Once: nothing of an earlier loop is of use. */
  async #tidy(): Promise<void> {
    if (this.#isTidied) return;
    for (const folder of [this.#folder, this.#bundleDir]) {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    this.#isTidied = true;
  }
}

/** An indexer's line about a file begins with it. */
function fileOf(problem: string): string {
  return problem.split(':', 1)[0] ?? problem;
}
