import type { Logger } from 'pino';
import type { AdminHost, Reread } from './admin/host.ts';
import { AdminServer } from './admin/server.ts';
import { VERSION } from './cli/version.ts';
import type { Clock } from './clock.ts';
import { changesBetween, nameOf } from './config/changes.ts';
import type { Configuration, DeploymentSettings } from './config/configuration.ts';
import { serviceName } from './config/serviceName.ts';
import { FaultOrders } from './faults/orders.ts';
import { orderedStart } from './faults/start.ts';
import { Auth } from './front/auth.ts';
import type { Routing } from './front/call.ts';
import type { CallRecord } from './front/record.ts';
import { Room } from './front/room.ts';
import { Directory } from './front/tenant.ts';
import { processStatus } from './gatewayStatus.ts';
import type { HostEnv } from './runtimes/index.ts';
import { FrontServer } from './server.ts';
import { Instance } from './supervisor/instance.ts';
import { lockStateDir } from './supervisor/lock.ts';
import { OperatedDeployment } from './supervisor/operated.ts';
import type { Source } from './supervisor/recipe.ts';
import { PackSource } from './supervisor/source.ts';
import type { SourceOptions } from './supervisor/source.ts';
import { Supervisor } from './supervisor/supervisor.ts';
import { sweepLeftovers } from './supervisor/sweep.ts';
import { Watchdog } from './supervisor/watchdog.ts';

/** What a gateway is given of the world around it. */
export interface GatewayDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Where what packs print is shown. */
  readonly packLog: Logger;
  /** What children get of the gateway's own environment. */
  readonly hostEnv: HostEnv;
  /** Reads the configuration again; what comes of it is given to `apply`. */
  readonly reread: () => Promise<Reread>;
  /** Told of every call when it is over, besides the log. */
  readonly onCall?: (record: CallRecord) => void;
  /** What instances are made from. Default: `PackSource`. */
  readonly sourceOf?: (settings: DeploymentSettings, options: SourceOptions) => Source;
  /** Whether calls of this tenant may take any time right now, because somebody debugs its pack. Default: none may. */
  readonly hasNoDeadline?: (tenantId: string) => boolean;
  /** What stands in for a runtime during a call, told on the admin side. Default: there is nothing of the kind. */
  readonly standInsFor?: AdminHost['standInsFor'];
}

/** What going by another configuration did. Names are `tenant/deployment`. */
export interface Applied {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** Keys that changed and take effect only at the gateway's next start. */
  readonly needsRestart: readonly string[];
}

/** A running gateway: both planes, joined. `running → draining → stopped`. */
export interface Gateway {
  /** `http://HOST:PORT`, or `unix:PATH`. */
  readonly address: string;
  /** Where operators reach it, in the same form. */
  readonly adminAddress: string;
  /** What operators see and order, for whoever opened it. */
  readonly host: AdminHost;
  /**
   * Goes by another configuration, in one tick: who may call, which deployments there are, how each is run. Only what
   * changed moves.
   */
  apply(configuration: Configuration): Applied;
  /** An index file that is served is another one now. */
  indexChanged(path: string): void;
  /**
   * Drains: in this tick `/readyz` and new calls are refused and every child gets its SIGTERM. Settles when every child
   * has ended and the last answers are out. Called again it is the same drain.
   */
  close(): Promise<void>;
  /** Cuts the drain short: what is left of every child is killed now. */
  hurry(): void;
  /** What met a fault on order so far, one JSON line each, sorted; see `FaultOrders`. */
  faultTrace(): string;
}

/** Opens the state folder and both listeners. Rejects with what keeps it from it; nothing is left open then. */
export async function openGateway(configuration: Configuration, deps: GatewayDeps): Promise<Gateway> {
  const { clock, log, packLog, hostEnv, reread, onCall, standInsFor } = deps;
  const { sourceOf = (settings, options) => new PackSource(settings, options) } = deps;
  const { stateDir } = configuration;
  const faults = configuration.faults && new FaultOrders(configuration.faults);
  let current = configuration;
  let address = '';
  let drain: Promise<void> | undefined;
  const undo: (() => Promise<void>)[] = [await lockStateDir(stateDir)];
  try {
    await sweepLeftovers(stateDir, log);
    const watchdog = new Watchdog({ path: hostEnv.PATH, stateDir, log });
    undo.push(() => watchdog.close());
    await watchdog.open();
    const sourceOptions = {
      stateDir,
      hostEnv,
      launch: watchdog.launch,
      log,
      get requiresPortProof() {
        return hasSeveralTenants(current);
      },
    };
    const supervisor = new Supervisor(configuration, {
      clock,
      log,
      packLog,
      create: (plan) => new Instance(faults === undefined ? plan : orderedStart(plan, faults, portOf(address))),
      sourceOf: (settings) => sourceOf(settings, sourceOptions),
    });
    let routing = routingOf(configuration, supervisor);
    const server = new FrontServer({
      routing: () => routing,
      room: new Room(configuration.bodiesBytes),
      clock,
      isDraining: () => drain !== undefined,
      ...(deps.hasNoDeadline && { hasNoDeadline: deps.hasNoDeadline }),
      record: (record) => {
        logCall(log, record);
        onCall?.(record);
      },
      onInternalError: (error) => log.error({ event: 'internal-error', err: error }, 'a bug of packgate'),
      faults,
    });
    address = await server.open(configuration.listen);
    undo.push(() => server.close());
    const host: AdminHost = {
      ...adminHost(supervisor, { address, clock, reread, isDraining: () => drain !== undefined }),
      ...(standInsFor && { standInsFor }),
    };
    const { listen, tokenSha256 } = configuration.admin;
    const admin = new AdminServer({ host, log, tokenSha256 });
    const adminAddress = await admin.open(listen);
    undo.push(() => admin.close());
    supervisor.open();
    const close = async (): Promise<void> => {
      await supervisor.close();
      await server.close();
      await admin.close();
      await watchdog.close();
      await undo[0]?.();
    };
    return {
      address,
      adminAddress,
      host,
      apply: (next) => {
        const changes = changesBetween(current, next);
        current = next;
        supervisor.apply(next, changes);
        routing = routingOf(next, supervisor);
        return appliedOf(changes);
      },
      indexChanged: (path) => supervisor.indexChanged(path),
      close: () => (drain ??= close()),
      hurry: () => supervisor.kill(),
      faultTrace: () => faults?.trace() ?? '',
    };
  } catch (cause) {
    for (const step of undo.toReversed()) await step();
    throw cause;
  }
}

/** Of an `http://` address; undefined for any other. */
function portOf(address: string): number | undefined {
  return address.startsWith('http:') ? Number(new URL(address).port) : undefined;
}

/** Whether packs of one tenant could meet those of another on this machine. */
export function hasSeveralTenants({ deployments }: Configuration): boolean {
  return new Set(deployments.map(({ tenantId }) => tenantId)).size > 1;
}

function routingOf({ tokens, deployments }: Configuration, supervisor: Supervisor): Routing {
  const entries = deployments.flatMap((settings) => {
    const deployment = supervisor.find(settings.tenantId, settings.name);
    return deployment === undefined ? [] : [{ ...entryOf(settings), lane: deployment.lane }];
  });
  return { auth: new Auth(tokens), directory: new Directory(entries) };
}

function entryOf(settings: DeploymentSettings) {
  const { tenantId, name, isDefault, hosts, deploymentId } = settings;
  return {
    tenantId,
    name,
    isDefault,
    hosts,
    ...(deploymentId !== undefined && { serviceName: serviceName(tenantId, deploymentId) }),
  };
}

function appliedOf(changes: ReturnType<typeof changesBetween>): Applied {
  return {
    added: changes.added.map(nameOf),
    removed: changes.removed.map(nameOf),
    changed: changes.changed.map(({ settings }) => nameOf(settings)),
    needsRestart: changes.needsRestart,
  };
}

interface HostFacts {
  readonly address: string;
  readonly clock: Clock;
  readonly reread: () => Promise<Reread>;
  readonly isDraining: () => boolean;
}

function adminHost(supervisor: Supervisor, { address, clock, reread, isDraining }: HostFacts): AdminHost {
  const startedAt = new Date().toISOString();
  return {
    deployments: () => supervisor.deployments.map((deployment) => new OperatedDeployment(deployment, clock)),
    find: (tenantId, name) => {
      const deployment = supervisor.find(tenantId, name);
      return deployment && new OperatedDeployment(deployment, clock);
    },
    gateway: () => ({
      version: VERSION,
      address,
      startedAt,
      state: isDraining() ? 'draining' : 'running',
      ...processStatus(),
      instancesMemoryBytes: supervisor.budget.usedBytes,
      memoryBudgetBytes: Number.isFinite(supervisor.budget.limitBytes) ? supervisor.budget.limitBytes : undefined,
    }),
    reread,
  };
}

function logCall(log: Logger, record: CallRecord): void {
  const { durationMs, waitedMs, status, ...rest } = record;
  const line = { event: 'call', status, ...rest, durationMs: Math.round(durationMs), waitedMs: Math.round(waitedMs) };
  if (status !== undefined && status < 400) log.info(line, 'call');
  else log.warn(line, 'call');
}
