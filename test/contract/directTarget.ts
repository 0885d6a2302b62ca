import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningService, ServiceProcess, StartOptions, Target } from '../../shared/conform/service.ts';
import { isEvent } from '../../shared/conform/clauses/lines.ts';
import { ENV } from '../../shared/process/contract.ts';
import { buildPack, newHold } from './pack.ts';
import type { BuiltPack } from './pack.ts';
import type { Program } from './programs.ts';
import { SpawnedProcess } from './spawnedProcess.ts';

/** One of our tenants: a UUID with letters in it, because the real services know no other ids. */
export const TENANT_ID = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
const TOKEN = 'Contract-Token-of-the-Suite';

/** Starts processes of one program, each with its own port, index and environment. */
export class DirectTarget implements Target {
  readonly name: string;
  readonly traits: Target['traits'];
  readonly pack: BuiltPack;
  readonly #program: Program;
  readonly #folder: string;
  readonly #processes = new Set<ServiceProcess>();
  #shared: Promise<RunningService> | undefined;
  #started = 0;

  private constructor(program: Program, folder: string, pack: BuiltPack) {
    this.name = program.name;
    this.traits = program.traits;
    this.#program = program;
    this.#folder = folder;
    this.pack = pack;
  }

  /** Builds the pack's index in a temporary folder that goes with `close`. */
  static async create(program: Program): Promise<DirectTarget> {
    const folder = await mkdtemp(join(tmpdir(), 'packgate-contract-'));
    return new DirectTarget(program, folder, await buildPack(program.packDir, folder, program.indexer));
  }

  shared(): Promise<RunningService> {
    this.#shared ??= this.open();
    return this.#shared;
  }

  async start(options: StartOptions = {}): Promise<ServiceProcess> {
    const [command = '', ...first] = this.#program.service;
    const indexPath = this.#indexFor(options);
    const usual = ['--index', indexPath, '--module-root', this.pack.dir, '--host', '127.0.0.1'];
    const args = [...first, ...(options.args?.(usual, indexPath) ?? usual)];
    const process = new SpawnedProcess({ command, args, env: this.#envFor(options), cwd: this.#folder });
    this.#processes.add(process);
    return process;
  }

  async open(options: StartOptions = {}): Promise<RunningService> {
    const process = await this.start(options);
    try {
      const listening = await process.line(isEvent('listening'));
      const tenantId = options.tenantId === undefined ? TENANT_ID : (options.tenantId?.trim() ?? '');
      return {
        host: '127.0.0.1',
        port: listening.type === 'event' ? Number(listening.fields.port) : Number.NaN,
        token: TOKEN,
        tenantId: tenantId === '' ? undefined : tenantId,
        expectedInfo: this.pack.expectedInfo,
        packDir: this.pack.dir,
        hold: () => newHold(this.#folder),
        process,
      };
    } catch (error) {
      await process.stop();
      throw error;
    }
  }

  /** Ends every process that is left and removes the folder. */
  async close(): Promise<void> {
    await Promise.all([...this.#processes].map((process) => process.stop()));
    await rm(this.#folder, { recursive: true, force: true });
  }

  // Private

  #indexFor({ index }: StartOptions): string {
    if (index === undefined) return this.pack.indexPath;
    this.#started += 1;
    const path = join(this.#folder, `index-${this.#started}.json`);
    const changed = index(this.pack.index);
    writeFileSync(path, typeof changed === 'string' ? changed : JSON.stringify(changed));
    return path;
  }

  #envFor({ tenantId = TENANT_ID, env }: StartOptions): Record<string, string> {
    const all: Record<string, string | null> = {
      PATH: process.env.PATH ?? '',
      HOME: this.#folder,
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
}
