import { randomBytes } from 'node:crypto';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import type { DeploymentSettings } from '../config/configuration.ts';
import { load } from '../config/load.ts';
import { problemText } from '../config/problem.ts';
import type { CallRecord } from '../front/record.ts';
import { tenantKey } from '../../shared/protocol/tenantId.ts';
import type { Operated } from '../admin/host.ts';
import { openGateway } from '../gateway.ts';
import type { Gateway } from '../gateway.ts';
import { logInto } from '../log.ts';
import type { DeploymentStatus, OrderName } from '../supervisor/status.ts';
import { createClient } from './client.ts';
import type { PackClient } from './client.ts';
import './disposable.ts';
import { isFake } from './fakePackService.ts';
import type { HostableFake } from './fakePackService.ts';
import { writtenTenant, writtenToken } from './settings.ts';
import type { FaultSettings, Tenant, TokenSettings } from './settings.ts';
import { processSurroundings } from './surroundings.ts';

export interface TestGatewayOptions {
  /** By id. */
  readonly tenants: Readonly<Record<string, Tenant>>;
  /** Where relative paths count from. Default: the working folder of the process. */
  readonly folder?: string;
  /** Tokens besides `gateway.token`, which opens every tenant. */
  readonly tokens?: readonly TokenSettings[];
  /** Settings of every deployment that does not set them nearer: `{ queue: { wait: '1s' } }`. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Faults on order. */
  readonly faults?: readonly FaultSettings[];
  /** Any other key of a configuration: `{ memory: '1GiB' }`. */
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** Where the gateway's log and what packs print is shown, a line of JSON each. Default: nowhere. */
  readonly log?: { write(line: string): unknown };
}

/** A gateway in the process of a test; everything it started is gone when it has been closed, or its process ended. */
export interface TestGateway extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`; the kernel chose the port. */
  readonly url: string;
  /** Opens every tenant. */
  readonly token: string;
  /** Every call so far, in the order in which they ended. There before the caller has the answer's last byte. */
  readonly records: readonly CallRecord[];
  /** A client that calls for this tenant; with the token that opens all, unless another is given. */
  client(tenantId: string, options?: { readonly token?: string }): PackClient;
  /** What an operator sees of a tenant's deployment. Default: its only or default one. */
  status(tenantId: string, deployment?: string): DeploymentStatus;
  /** Serves the pack as it is in its folder now. Rejects with what an operator is told when that does not start. */
  reload(tenantId: string, deployment?: string): Promise<void>;
  /** Replaces the process without losing a call. */
  restart(tenantId: string, deployment?: string): Promise<void>;
  /** Ends the process; calls get 503 `stopped`. */
  stop(tenantId: string, deployment?: string): Promise<void>;
  /** Starts it, also after `stop` or before the delay after a failure is over. */
  start(tenantId: string, deployment?: string): Promise<void>;
  /** Which call met which fault on order: one JSON line each, sorted, without times. */
  faultTrace(): string;
  /** Ends everything. What still runs after `graceMs` (default 1,000) is killed. Again: nothing. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

const GRACE_MS = 1_000;

/**
 * Opens a gateway with these tenants. Any number can be open side by side: each has a folder of its own below the
 * system's temporary one, and a port that the kernel chose. It installs no handler of signals and reads no argument; a
 * test that ends without `close`, by SIGKILL for example, leaves no process behind.
 *
 * It lives on the timers and the event loop of the test's process: a test that fakes timers, or blocks, stops it, too.
 * @throws {Error} with every problem of the configuration that comes of the options.
 */
export async function createGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'packgate-kit-')));
  const undo: (() => Promise<void>)[] = [() => rm(home, { recursive: true, force: true })];
  try {
    const token = randomBytes(24).toString('base64url');
    const tenants = await hostable(options.tenants, home, (fake) => undo.push(() => fake.close()));
    const records: CallRecord[] = [];
    const file = await write(home, token, tenants, options);
    const { gateway, deployments } = await open(file, options, (record) => records.push(record));
    undo.push(() => gateway.close());
    return new OpenGateway({ gateway, deployments, token, records, undo });
  } catch (cause) {
    for (const step of undo.toReversed()) await step();
    throw cause;
  }
}

/** Opens the fakes among the tenants. */
async function hostable(
  tenants: Readonly<Record<string, Tenant>>,
  home: string,
  onOpen: (fake: HostableFake) => void,
): Promise<Readonly<Record<string, unknown>>> {
  const opened = new Map<HostableFake, Readonly<Record<string, unknown>>>();
  const written: [string, unknown][] = [];
  for (const [id, tenant] of Object.entries(tenants)) {
    if (!isFake(tenant)) {
      written.push([id, writtenTenant(tenant as Parameters<typeof writtenTenant>[0])]);
      continue;
    }
    const settings = opened.get(tenant) ?? (await tenant.open(join(home, `fake-${opened.size + 1}`)));
    if (!opened.has(tenant)) onOpen(tenant);
    opened.set(tenant, settings);
    written.push([id, settings]);
  }
  return Object.fromEntries(written);
}

/** Writes the configuration; for its owner alone, since it holds what packs are given. Returns where. */
async function write(
  home: string,
  token: string,
  tenants: Readonly<Record<string, unknown>>,
  { tokens = [], defaults, faults, configuration }: TestGatewayOptions,
): Promise<string> {
  const file = join(home, 'packgate.json');
  const whole = {
    // No socket: whom it lets in is set by the umask, which is the whole process's, and not to be had in a worker thread.
    // Nobody has this token.
    admin: { listen: '127.0.0.1:0', token: { sha256: randomBytes(32).toString('hex') } },
    ...configuration,
    listen: '127.0.0.1:0',
    stateDir: join(home, 'state'),
    tokens: [{ token }, ...tokens].map(writtenToken),
    tenants,
    ...(defaults !== undefined && { defaults }),
    ...(faults !== undefined && { faults }),
  };
  await writeFile(file, JSON.stringify(whole, undefined, 2), { mode: 0o600 });
  return file;
}

async function open(
  file: string,
  { folder, log }: TestGatewayOptions,
  onCall: (record: CallRecord) => void,
): Promise<Pick<Parts, 'gateway' | 'deployments'>> {
  const { env, cwd } = processSurroundings();
  const loaded = await load(file, { env, cwd, folder: folder ?? cwd, allowFaults: true });
  if ('problems' in loaded) {
    // The file is a detail of ours: a problem is told by its path in the options.
    const texts = loaded.problems.map(({ path, expected, got, todo }) =>
      problemText({ file: 'createGateway', path, expected, got, ...(todo !== undefined && { todo }) }),
    );
    throw new Error(`the gateway cannot be opened:\n${texts.join('\n')}`);
  }
  const records = logInto({ write: (line) => void log?.write(line) }, log === undefined ? 'silent' : 'info');
  const { PATH, TZ, TMPDIR } = env;
  const gateway = await openGateway(loaded.configuration, {
    clock: systemClock,
    log: records,
    packLog: records,
    hostEnv: { PATH, TZ, TMPDIR },
    onCall,
    reread: () => Promise.resolve({ ok: false, problems: ['a gateway of a test has no configuration to read again'] }),
  });
  return { gateway, deployments: loaded.configuration.deployments };
}

interface Parts {
  readonly gateway: Gateway;
  readonly deployments: readonly DeploymentSettings[];
  readonly token: string;
  readonly records: readonly CallRecord[];
  readonly undo: readonly (() => Promise<void>)[];
}

class OpenGateway implements TestGateway {
  readonly #parts: Parts;
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get url(): string {
    return this.#parts.gateway.address;
  }

  get token(): string {
    return this.#parts.token;
  }

  get records(): readonly CallRecord[] {
    return this.#parts.records;
  }

  client(tenantId: string, { token = this.token }: { readonly token?: string } = {}): PackClient {
    return createClient({ url: this.url, token, tenantId });
  }

  status(tenantId: string, deployment?: string): DeploymentStatus {
    return this.#find(tenantId, deployment).status();
  }

  reload(tenantId: string, deployment?: string): Promise<void> {
    return this.#order('reload', tenantId, deployment);
  }

  restart(tenantId: string, deployment?: string): Promise<void> {
    return this.#order('restart', tenantId, deployment);
  }

  stop(tenantId: string, deployment?: string): Promise<void> {
    return this.#order('stop', tenantId, deployment);
  }

  start(tenantId: string, deployment?: string): Promise<void> {
    return this.#order('start', tenantId, deployment);
  }

  faultTrace(): string {
    return this.#parts.gateway.faultTrace();
  }

  close({ graceMs = GRACE_MS }: { readonly graceMs?: number } = {}): Promise<void> {
    return (this.#closing ??= this.#close(graceMs));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(graceMs: number): Promise<void> {
    const { gateway, undo } = this.#parts;
    const timer = setTimeout(() => gateway.hurry(), graceMs);
    try {
      for (const step of undo.toReversed()) await step();
    } finally {
      clearTimeout(timer);
    }
  }

  async #order(name: OrderName, tenantId: string, deployment?: string): Promise<void> {
    const order = this.#find(tenantId, deployment).order(name);
    const done = order.accepted ? await order.done : { ok: false as const, problems: [], ...order };
    if (done.ok) return;
    throw new Error([`${name} of ${tenantId} failed (${done.code}): ${done.message}`, ...done.problems].join('\n'));
  }

  #find(tenantId: string, name?: string): Operated {
    const { gateway, deployments } = this.#parts;
    const settings = deployments.find(
      (one) =>
        tenantKey(one.tenantId) === tenantKey(tenantId) && (name === undefined ? one.isDefault : one.name === name),
    );
    const found = settings && gateway.host.find(settings.tenantId, settings.name);
    if (found !== undefined) return found;
    const names = deployments.map((one) => `${one.tenantId}/${one.name}`).join(', ');
    throw new Error(`expected a deployment that is hosted (${names}), got ${tenantId}/${name ?? '(its default)'}`);
  }
}
