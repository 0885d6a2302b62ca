import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ComingCall } from '../admin/host.ts';
import type { Clock } from '../clock.ts';
import { defaultAdminSocket } from '../config/adminSocket.ts';
import type { Configuration, ListenAddress } from '../config/configuration.ts';
import { openGateway } from '../gateway.ts';
import type { Gateway } from '../gateway.ts';
import type { HostEnv } from '../runtimes/index.ts';
import type { Done } from '../supervisor/status.ts';
import { CHILD_PROGRAM } from '../supervisor/source.ts';
import { findPacks } from './find.ts';
import type { HostedPack, HostOptions } from './hosted.ts';
import { Hosting } from './hosting.ts';
import { DEV_EVENT } from './records.ts';
import { DevSource } from './source.ts';
import { Spares } from './spares.ts';
import { declaredIn } from './standIns/declared.ts';
import { StandIns } from './standIns/standIns.ts';
import type { InspectedChildren } from './inspect/children.ts';
import { tenantOf } from './tenant.ts';
import type { FolderWatch } from './watch.ts';
import { watchForPacks } from './watch.ts';

/** What a loop is opened with. */
export interface LoopOptions {
  /** Folders to look for packs in; absolute, links resolved. */
  readonly roots: readonly string[];
  readonly stateDir: string;
  readonly listen: ListenAddress;
  /** What callers send: it opens every tenant. */
  readonly token: string;
  /** Ids for packs by their names; others get their own. */
  readonly tenants: ReadonlyMap<string, string>;
  readonly host: HostOptions;
  readonly hostEnv: HostEnv;
  readonly uid: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly packLog: Logger;
  /** Follows the processes for debuggers. Default: they cannot be debugged. */
  readonly inspected?: InspectedChildren | undefined;
  /** A pack is hosted from now on: before anything is said about it. */
  readonly onFound: (pack: HostedPack) => void;
  /** It serves for the first time, from this index. */
  readonly onFirstServed: (pack: HostedPack, indexPath: string) => void;
  /** A call of that tenant paused; `url` is where its output is posted to. Told here, because it is not for the log. */
  readonly onPaused: (tenantId: string, url: string) => void;
}

const BODIES_BYTES = 64 * 1024 * 1024;
const NAME = 'default';
/** Most that is logged of what a pause was answered with. */
const MAX_OUTPUT_CHARACTERS = 2_000;

/**
 * The development loop: a gateway over the packs of some folders, each with a tenant of its own, in which what is saved
 * serves a moment later.
 *
 * Safety: what serves is replaced only by what serves, too. Progress: what was saved last is tried.
 */
export class DevLoop {
  readonly #options: LoopOptions;
  readonly #hostings = new Map<string, Hosting>();
  /** By tenant: what its instances are made from. */
  readonly #sources = new Map<string, DevSource>();
  #gateway: Gateway | undefined;
  #spares: Spares | undefined;
  /** From the moment on in which somebody can ask for them. */
  #standIns: Promise<StandIns> | undefined;
  #finder: FolderWatch | undefined;
  #isClosed = false;
  /** Packs are looked for one time after the other. */
  #search: Promise<void> = Promise.resolve();

  private constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** Opens the gateway and starts every pack. Rejects with what keeps the gateway from opening. */
  static async open(options: LoopOptions): Promise<DevLoop> {
    const loop = new DevLoop(options);
    const { clock, log, packLog, hostEnv, inspected } = options;
    loop.#gateway = await openGateway(loop.#configuration(), {
      clock,
      log,
      packLog,
      hostEnv,
      reread: () => Promise.resolve({ ok: false, problems: ['there is no configuration to read'] }),
      sourceOf: (settings, sourceOptions) => {
        const { launch } = sourceOptions;
        loop.#spares ??= new Spares({ launch, childProgram: CHILD_PROGRAM });
        const source = new DevSource(settings, sourceOptions, { watcher: inspected, spares: loop.#spares });
        loop.#sources.set(settings.tenantId, source);
        return source;
      },
      ...(inspected && { hasNoDeadline: (tenantId) => inspected.isAttached(tenantId) }),
      standInsFor: (call) => loop.#standInsFor(call),
    });
    // Not before the gateway: it is what makes the state folder ours.
    try {
      loop.#standIns = loop.#openStandIns();
      await loop.#standIns;
    } catch (cause) {
      await loop.#gateway.close();
      throw cause;
    }
    return loop;
  }

  get address(): string {
    return this.#opened.address;
  }

  get adminAddress(): string {
    return this.#opened.adminAddress;
  }

  /** Names of the packs that are hosted. */
  get packs(): readonly string[] {
    return [...this.#hostings.values()].map(({ pack }) => pack.name);
  }

  /** Finds the packs there are and goes on looking. Settles when all that are there are known and being started. */
  async start(): Promise<void> {
    const { roots: folders, clock } = this.#options;
    await this.#findPacks();
    this.#finder = watchForPacks({
      clock,
      folders,
      isKnown: (path) => [...this.#hostings.keys()].some((known) => path.startsWith(`${known}/`)),
      onChange: () => void this.#findPacks(),
      onTrouble: (error) => this.#unwatched('new packs may be found late', error),
    });
  }

  /** Nothing is followed any more, and the gateway drains. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const followed = [this.#finder, ...this.#hostings.values()].map((one) => one?.close());
    await Promise.all([this.#spares?.close(), this.#opened.close(), ...followed]);
    // After the last call, which may have files to store.
    await (await this.#standIns)?.close();
  }

  hurry(): void {
    this.#opened.hurry();
  }

  get #opened(): Gateway {
    if (this.#gateway === undefined) throw new Error('not open');
    return this.#gateway;
  }

  #openStandIns(): Promise<StandIns> {
    const { stateDir, clock, log, onPaused } = this.#options;
    return StandIns.open({
      folder: join(stateDir, 'stand-ins'),
      clock,
      onPaused: ({ tenantId: tenant, toolId: tool }, { name }, url) => {
        log.info({ event: DEV_EVENT.paused, tenant, tool, ...(name !== undefined && { name }) }, 'a call paused');
        onPaused(tenant, url);
      },
      onAnswered: ({ tenantId: tenant, toolId: tool }, output) => {
        const text = JSON.stringify(output).slice(0, MAX_OUTPUT_CHARACTERS);
        log.info({ event: DEV_EVENT.answered, tenant, tool, output: text }, 'a pause was answered');
      },
    });
  }

  async #standInsFor(call: ComingCall): Promise<object | undefined> {
    // Who asks right at the start asks for a pack that is about to be found.
    await this.#search;
    // As it is written in the configuration, and not in the letter case of who asks.
    const tenantId = this.#opened.host.find(call.tenantId, NAME)?.tenantId;
    if (tenantId === undefined) return undefined;
    const declared = await declaredIn(this.#sources.get(tenantId)?.indexPath, call.toolId);
    // Where somebody debugs the pack, the call itself has no deadline either.
    const timeoutMs =
      this.#options.inspected?.isAttached(tenantId) === true ? Number.POSITIVE_INFINITY : call.timeoutMs;
    return (await this.#standIns)?.offer({ tenantId, toolId: call.toolId, timeoutMs }, declared);
  }

  #findPacks(): Promise<void> {
    this.#search = this.#search
      .then(() => this.#compare())
      .catch((error: unknown) => {
        this.#options.log.error(
          { event: 'internal-error', err: error },
          'a bug of packgate: the packs stay as they are',
        );
      });
    return this.#search;
  }

  /** What has come, what has gone. */
  async #compare(): Promise<void> {
    const { roots, tenants } = this.#options;
    const found = await findPacks(roots);
    if (this.#isClosed) return;
    const byPath = new Map(found.map((pack) => [pack.path, pack]));
    for (const [path, { pack }] of this.#hostings) {
      // One that is written for another runtime now is another pack.
      if (byPath.get(path)?.kind !== pack.kind) await this.#remove(path);
    }
    const fresh = found.filter(({ path }) => !this.#hostings.has(path));
    const hostings = fresh.map((pack) =>
      this.#add({ ...pack, tenantId: tenants.get(pack.name) ?? tenantOf(pack.path) }),
    );
    await Promise.all(hostings.map((hosting) => hosting.read()));
    this.#apply();
    for (const hosting of hostings) hosting.start();
  }

  #add(pack: HostedPack): Hosting {
    const { clock, log, host, onFound, onFirstServed } = this.#options;
    onFound(pack);
    const { path, kind: runtime, name, tenantId: tenant } = pack;
    log.info({ event: DEV_EVENT.found, tenant, pack: name, path, runtime }, 'a pack was found');
    const hosting = new Hosting(pack, {
      clock,
      log,
      host,
      onSettings: () => this.#apply(),
      reload: () => this.#reload(tenant),
      isServing: () => this.#opened.host.find(tenant, NAME)?.status().serving !== undefined,
      onSwapped: (isFirst) => {
        const source = this.#sources.get(tenant);
        source?.prepareNext();
        if (isFirst && source?.indexPath !== undefined) onFirstServed(pack, source.indexPath);
      },
      onUnwatched: (what, error) => this.#unwatched(what, error),
    });
    this.#hostings.set(path, hosting);
    return hosting;
  }

  async #remove(path: string): Promise<void> {
    const hosting = this.#hostings.get(path);
    if (hosting === undefined) return;
    this.#hostings.delete(path);
    this.#sources.delete(hosting.pack.tenantId);
    await hosting.close();
    this.#options.log.info({ event: DEV_EVENT.gone, tenant: hosting.pack.tenantId, path }, 'a pack is gone');
  }

  #apply(): void {
    if (!this.#isClosed) this.#opened.apply(this.#configuration());
  }

  async #reload(tenantId: string): Promise<Done> {
    const deployment = this.#isClosed ? undefined : this.#opened.host.find(tenantId, NAME);
    const order = deployment?.order('reload');
    if (order?.accepted === true) return order.done;
    const message = order?.message ?? 'it is not hosted';
    return { ok: false, code: order?.code ?? 'gone', message, problems: [] };
  }

  #unwatched(what: string, error: Error): void {
    const { code } = error as NodeJS.ErrnoException;
    const text = `not everything can be watched (${code ?? error.message}): it is polled, ${what}`;
    this.#options.log.warn({ event: 'dev-not-watched', code }, text);
  }

  #configuration(): Configuration {
    const { roots, stateDir, listen, token, hostEnv, uid } = this.#options;
    const deployments = [...this.#hostings.values()].flatMap(({ settings }) => settings ?? []);
    return {
      file: roots[0] ?? '.',
      listen,
      stateDir,
      tokens: [{ sha256: createHash('sha256').update(token).digest('hex'), tenants: 'any' }],
      bodiesBytes: BODIES_BYTES,
      admin: { listen: { kind: 'unix', path: defaultAdminSocket(stateDir, hostEnv.TMPDIR ?? '/tmp', uid) } },
      memoryBytes: Number.POSITIVE_INFINITY,
      boots: Math.max(2, availableParallelism()),
      sources: [],
      deployments,
    };
  }
}
