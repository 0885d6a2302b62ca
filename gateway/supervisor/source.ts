import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { DeploymentSettings } from '../config/configuration.ts';
import { runtimeOf } from '../runtimes/index.ts';
import type { HostEnv } from '../runtimes/index.ts';
import type { Source } from './deployment.ts';
import { readIndexFacts } from './indexFile.ts';
import type { IndexFacts } from './indexFile.ts';
import { Indexing } from './indexing.ts';
import type { InstanceRecipe } from './instance.ts';
import { StartFailure } from './startFailure.ts';
import { deploymentFolder, prepareFolder } from './stateDir.ts';
import type { Launch } from './process.ts';
import type { DeploymentFolder } from './stateDir.ts';

/** Our own Node pack service; started by path, never imported. */
const CHILD_PROGRAM = fileURLToPath(new URL('../../child/main.js', import.meta.url));

export interface SourceOptions {
  readonly stateDir: string;
  readonly hostEnv: HostEnv;
  readonly launch: Launch;
  readonly log: Logger;
  /** Refuse an instance whose port cannot be shown to be its own: where several tenants share the machine. */
  readonly requiresPortProof: boolean;
}

/** Makes what a deployment's instances are started from: its settings, its index, its folder under `stateDir`. */
export class PackSource implements Source {
  readonly #settings: DeploymentSettings;
  readonly #hostEnv: HostEnv;
  readonly #launch: Launch;
  readonly #folder: DeploymentFolder;
  readonly #log: Logger;
  readonly #requiresPortProof: boolean;
  #indexing: Indexing | undefined;
  #isCancelled = false;
  /** An index we build is built once in a gateway's life, so that a pack does not change behind its callers' backs. */
  #hasBuiltIndex = false;

  constructor(settings: DeploymentSettings, { stateDir, hostEnv, launch, log, requiresPortProof }: SourceOptions) {
    this.#settings = settings;
    this.#requiresPortProof = requiresPortProof;
    this.#hostEnv = hostEnv;
    this.#launch = launch;
    this.#folder = deploymentFolder(stateDir, settings.tenantId, settings.name);
    this.#log = log.child({ tenant: settings.tenantId, deployment: settings.name });
  }

  async prepare(): Promise<InstanceRecipe> {
    const settings = this.#settings;
    const runtime = runtimeOf(settings.runtime);
    await prepareFolder(this.#folder);
    const index = await this.#index();
    return {
      index,
      requiresPortProof: this.#requiresPortProof,
      keepsConnections: runtime.keepsConnections,
      bootTimeoutMs: settings.bootTimeoutMs,
      killAfterMs: settings.drainMs + runtime.drainMarginMs,
      launch: (token, sinks) => {
        const { buildDir } = this.#folder;
        const context = { token, indexPath: index.path, childProgram: CHILD_PROGRAM, hostEnv: this.#hostEnv, buildDir };
        return this.#launch(runtime.launch(settings, context), sinks);
      },
    };
  }

  async cancel(): Promise<void> {
    this.#isCancelled = true;
    this.#indexing?.cancel();
    await this.#indexing?.finished();
  }

  /** The configured index as it is now, or the one that is built here. */
  async #index(): Promise<IndexFacts> {
    const { index, bootTimeoutMs } = this.#settings;
    if (index !== undefined) return readIndexFacts(index);
    if (!this.#hasBuiltIndex) await this.#build(bootTimeoutMs);
    return readIndexFacts(this.#folder.indexPath);
  }

  async #build(timeoutMs: number): Promise<void> {
    const { indexPath, buildDir } = this.#folder;
    const spec = runtimeOf(this.#settings.runtime).index(this.#settings, {
      outputPath: indexPath,
      childProgram: CHILD_PROGRAM,
      hostEnv: this.#hostEnv,
      buildDir,
    });
    if (spec === undefined) throw new Error(`a pack run by a command needs an index; ${this.#settings.path} has none`);
    // Given up while the folder was made: an indexer that starts now would outlive the gateway that waits for its children.
    if (this.#isCancelled) throw new StartFailure('index', 'cancelled', 'ended before it was indexed');
    this.#indexing = new Indexing(this.#launch, timeoutMs);
    const { fileErrors, warnings } = await this.#indexing.run(spec);
    this.#hasBuiltIndex = true;
    for (const problem of fileErrors)
      this.#log.error({ event: 'file-error', problem }, 'a file of the pack is not served');
    for (const problem of warnings) this.#log.warn({ event: 'index-warning', problem }, 'the indexer warns');
  }
}
