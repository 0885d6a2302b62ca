import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Configuration, DeploymentSettings } from './config/configuration.ts';
import { serviceName } from './config/serviceName.ts';
import { Auth } from './front/auth.ts';
import type { CallRecord } from './front/record.ts';
import { Room } from './front/room.ts';
import { Directory } from './front/tenant.ts';
import type { HostEnv } from './runtimes/index.ts';
import { FrontServer } from './server.ts';
import { Deployment } from './supervisor/deployment.ts';
import { lockStateDir } from './supervisor/lock.ts';
import { PackSource } from './supervisor/source.ts';
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
}

/** A running gateway: both planes, joined. `running → draining → stopped`. */
export interface Gateway {
  /** `http://HOST:PORT`, or `unix:PATH`. */
  readonly address: string;
  /**
   * Drains: in this tick `/readyz` and new calls are refused and every child gets its SIGTERM. Settles when every child
   * has ended and the last answers are out. Called again it is the same drain.
   */
  close(): Promise<void>;
  /** Cuts the drain short: what is left of every child is killed now. */
  hurry(): void;
}

/** Opens the state folder and the listener. Rejects with what keeps it from either; nothing is left open then. */
export async function openGateway(configuration: Configuration, deps: GatewayDeps): Promise<Gateway> {
  const { clock, log, packLog, hostEnv } = deps;
  const { stateDir } = configuration;
  const unlock = await lockStateDir(stateDir);
  await sweepLeftovers(stateDir, log);
  const watchdog = new Watchdog({ path: hostEnv.PATH, stateDir, log });
  await watchdog.open();
  const { launch } = watchdog;
  const requiresPortProof = hasSeveralTenants(configuration);
  const deployments = configuration.deployments.map((settings) => {
    const source = new PackSource(settings, { stateDir, hostEnv, launch, log, requiresPortProof });
    return new Deployment(settings, { source, clock, log, packLog });
  });
  const supervisor = new Supervisor(deployments, clock);
  let drain: Promise<void> | undefined;
  const server = new FrontServer({
    auth: new Auth(configuration.tokens),
    directory: new Directory(deployments.map(({ settings, lane }) => ({ ...entryOf(settings), lane }))),
    room: new Room(configuration.bodiesBytes),
    clock,
    isDraining: () => drain !== undefined,
    record: (record) => logCall(log, record),
    onInternalError: (error) => log.error({ event: 'internal-error', err: error }, 'a bug of packgate'),
  });
  const address = await server.open(configuration.listen).catch(async (cause: unknown) => {
    await watchdog.close();
    await unlock();
    throw cause;
  });
  supervisor.open();
  const close = async (): Promise<void> => {
    await supervisor.close();
    await server.close();
    await watchdog.close();
    await unlock();
  };
  return { address, close: () => (drain ??= close()), hurry: () => supervisor.kill() };
}

/** Whether packs of one tenant could meet those of another on this machine. */
export function hasSeveralTenants({ deployments }: Configuration): boolean {
  return new Set(deployments.map(({ tenantId }) => tenantId)).size > 1;
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

function logCall(log: Logger, record: CallRecord): void {
  const { durationMs, waitedMs, status, ...rest } = record;
  const line = { event: 'call', status, ...rest, durationMs: Math.round(durationMs), waitedMs: Math.round(waitedMs) };
  if (status !== undefined && status < 400) log.info(line, 'call');
  else log.warn(line, 'call');
}
