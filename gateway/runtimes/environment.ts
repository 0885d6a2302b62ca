import { ENV } from '../../shared/process/contract.ts';
import type { DeploymentSettings } from '../config/configuration.ts';

/** The little that a pack's process inherits from the gateway's own environment. */
export interface HostEnv {
  readonly PATH?: string | undefined;
  readonly TZ?: string | undefined;
  readonly TMPDIR?: string | undefined;
}

type Env = Record<string, string>;

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** A pack service's environment (C.2), built from nothing: what is not named here, a pack cannot see (C10). */
export function serviceEnv(settings: DeploymentSettings, token: string, hostEnv: HostEnv, own: Env = {}): Env {
  return {
    ...baseEnv(settings, hostEnv),
    ...own,
    [ENV.token]: token,
    [ENV.tenantId]: settings.tenantId,
    // Twice what the lane lets in: a service that frees a slot late (Python) has room all the same.
    [ENV.maxConcurrency]: String(2 * settings.concurrency),
    [ENV.envCheck]: settings.envCheck,
    [ENV.port]: '0',
    // Lifecycle lines in another form cannot be read (C26).
    [ENV.logFormat]: 'json',
    ...settings.env,
  };
}

/** An indexer's environment: it runs the pack's code, so it sees what the pack's service sees, but for the contract. */
export function indexerEnv(settings: DeploymentSettings, hostEnv: HostEnv, own: Env = {}): Env {
  return { ...baseEnv(settings, hostEnv), ...own, ...settings.env };
}

/** The arguments of a pack service (C.1). */
export function serviceArgs(settings: DeploymentSettings, indexPath: string): string[] {
  return ['--index', indexPath, '--module-root', settings.path, '--host', '127.0.0.1'];
}

function baseEnv(settings: DeploymentSettings, { PATH, TZ, TMPDIR }: HostEnv): Env {
  return {
    PATH: PATH ?? DEFAULT_PATH,
    HOME: settings.path,
    LANG: 'C.UTF-8',
    ...(TZ === undefined ? {} : { TZ }),
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
  };
}
