import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { get } from '../../../shared/conform/client/call.ts';
import { isEvent } from '../../../shared/conform/clauses/lines.ts';
import type { RunningService, StartOptions, Target } from '../../../shared/conform/service.ts';
import { ENV } from '../../../shared/process/contract.ts';
import type { LaunchSpec } from '../../runtimes/launchSpec.ts';
import type { Launch } from '../../supervisor/process.ts';
import type { ConformancePack } from './conformancePack.ts';
import { LaunchedProcess } from './launchedProcess.ts';

/** The tenant that services are pinned to: a UUID with letters in it, because the released ones know no other ids. */
export const TENANT_ID = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
const TOKEN = 'Conformance-Token-of-this-Run';

/** A shared service that does not answer its probe within this time is spoiled. */
const WELL_MS = 3_000;

export interface TargetOptions {
  readonly name: string;
  /** Command and first arguments of the service. */
  readonly command: readonly string[];
  readonly pack: ConformancePack;
  /** An empty folder for index files and the like; not removed here. */
  readonly folder: string;
  readonly launch: Launch;
  /** Where programs are looked for. */
  readonly path: string | undefined;
  /** Working folder of the processes. Default: `folder`. */
  readonly cwd?: string;
}

/** One running service that clauses share, with its process. */
interface Shared {
  readonly service: RunningService;
  readonly leader: LaunchedProcess;
}

/** What one clause uses of a target. */
export interface ClausePlace {
  readonly target: Target;
  /** Tools and checks of the pack that it has called, or wanted to. */
  needs(): readonly string[];
  /** Whether the shared service, where it used that, has lived through it; one that has not is replaced by a new one. */
  isSharedWell(): Promise<boolean>;
  /** Kills what it started itself. */
  kill(): void;
}

/** Starts processes of one service program, each with its own port, index and environment. */
export class LaunchedTarget implements Target {
  readonly name: string;
  readonly traits: Target['traits'];
  readonly pack: ConformancePack;
  readonly #options: TargetOptions;
  readonly #processes = new Set<LaunchedProcess>();
  #shared: Promise<Shared> | undefined;
  #indexes = 0;
  #holds = 0;

  constructor(options: TargetOptions) {
    this.name = options.name;
    this.traits = options.pack.traits;
    this.pack = options.pack;
    this.#options = options;
  }

  /** The shared service; a new one where the last has been given up. */
  async shared(): Promise<RunningService> {
    return (await this.#sharedNow()).service;
  }

  /** This target for one clause, which is told from the others that run at the same time. */
  forClause(): ClausePlace {
    const own = new Set<LaunchedProcess>();
    const used = new Set<Shared>();
    const needed = new Set<string>();
    const noting = (service: RunningService): RunningService => ({ ...service, onNeed: (id) => void needed.add(id) });
    let isOver = false;
    // What was cut short may go on for a while, and must start nothing more.
    const mayStart = (): void => {
      if (isOver) throw new Error('the time of this check is over');
    };
    return {
      target: {
        name: this.name,
        traits: this.traits,
        shared: async () => {
          const shared = await this.#sharedNow();
          used.add(shared);
          return noting(shared.service);
        },
        start: async (options = {}) => {
          mayStart();
          return this.#start(options, own);
        },
        open: async (options = {}) => {
          mayStart();
          return noting((await this.#open(options, own)).service);
        },
      },
      needs: () => [...needed],
      isSharedWell: async () => (await Promise.all([...used].map((shared) => this.#isWell(shared)))).every(Boolean),
      kill: () => {
        isOver = true;
        for (const started of own) started.kill();
      },
    };
  }

  start(options: StartOptions = {}): Promise<LaunchedProcess> {
    return Promise.resolve(this.#start(options));
  }

  async open(options: StartOptions = {}): Promise<RunningService> {
    return (await this.#open(options)).service;
  }

  /** Kills every process that is left, at once. */
  kill(): void {
    for (const started of this.#processes) started.kill();
  }

  /** Ends every process that is left, gently first. */
  async close(): Promise<void> {
    await Promise.all([...this.#processes].map((started) => started.stop()));
  }

  // Private

  #sharedNow(): Promise<Shared> {
    this.#shared ??= this.#open({});
    return this.#shared;
  }

  /** One that has died or answers no probe is given up: a clause that spoils it must not be what fails all others. */
  async #isWell(shared: Shared): Promise<boolean> {
    const isCurrent = (await this.#shared?.catch(() => undefined)) === shared;
    if (!isCurrent) return false;
    if (!shared.leader.hasEnded && (await answers(shared.service))) return true;
    this.#shared = undefined;
    shared.leader.kill();
    return false;
  }

  #start(options: StartOptions, own?: Set<LaunchedProcess>): LaunchedProcess {
    const started = new LaunchedProcess(this.#options.launch, this.#specFor(options));
    this.#processes.add(started);
    own?.add(started);
    void started.exit.catch(() => undefined).then(() => this.#processes.delete(started));
    return started;
  }

  async #open(options: StartOptions, own?: Set<LaunchedProcess>): Promise<Shared> {
    const leader = this.#start(options, own);
    try {
      const listening = await leader.line(isEvent('listening'));
      const tenantId = options.tenantId === undefined ? TENANT_ID : (options.tenantId?.trim() ?? '');
      const { pack } = this.#options;
      const service: RunningService = {
        host: '127.0.0.1',
        port: listening.type === 'event' ? Number(listening.fields.port) : Number.NaN,
        token: TOKEN,
        tenantId: tenantId === '' ? undefined : tenantId,
        expectedInfo: pack.expectedInfo,
        packDir: pack.dir,
        hold: () => this.#hold(),
        process: leader,
      };
      return { service, leader };
    } catch (error) {
      await leader.stop();
      throw error;
    }
  }

  #specFor(options: StartOptions): LaunchSpec {
    const { command, pack, folder, cwd = folder } = this.#options;
    const [program = '', ...first] = command;
    const indexPath = this.#indexFor(options);
    const usual = ['--index', indexPath, '--module-root', pack.dir, '--host', '127.0.0.1'];
    const args = [...first, ...(options.args?.(usual, indexPath) ?? usual)];
    return { command: program, args, cwd, env: this.#envFor(options) };
  }

  #indexFor({ index }: StartOptions): string {
    const { pack, folder } = this.#options;
    if (index === undefined) return pack.indexPath;
    this.#indexes += 1;
    const path = join(folder, `index-${this.#indexes}.json`);
    const changed = index(pack.index);
    writeFileSync(path, typeof changed === 'string' ? changed : JSON.stringify(changed));
    return path;
  }

  #envFor({ tenantId = TENANT_ID, env }: StartOptions): Record<string, string> {
    const { path = '/usr/local/bin:/usr/bin:/bin', folder } = this.#options;
    const all: Record<string, string | null> = {
      PATH: path,
      HOME: folder,
      TMPDIR: folder,
      LANG: 'C.UTF-8',
      PYTHONDONTWRITEBYTECODE: '1',
      [ENV.token]: TOKEN,
      [ENV.port]: '0',
      [ENV.logFormat]: 'json',
      [ENV.tenantId]: tenantId,
      ...env,
    };
    return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null));
  }

  #hold(): ReturnType<RunningService['hold']> {
    this.#holds += 1;
    const path = join(this.#options.folder, `release-${this.#holds}`);
    return { path, release: () => writeFileSync(path, '') };
  }
}

async function answers(service: RunningService): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), WELL_MS);
  });
  const probed = get(service, '/healthz').then(
    () => true,
    () => false,
  );
  const isAnswered = await Promise.race([probed, late]);
  clearTimeout(timer);
  return isAnswered;
}
