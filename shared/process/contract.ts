/** What a pack service process is given and what it gives back. Protocol group C. */

/** Environment variables of the process contract (C.2). */
export const ENV = {
  token: 'KINDGI_PACK_SERVICE_TOKEN',
  tenantId: 'KINDGI_PACK_TENANT_ID',
  maxConcurrency: 'KINDGI_PACK_SERVICE_MAX_CONCURRENCY',
  envCheck: 'KINDGI_PACK_ENV_CHECK',
  envFilter: 'KINDGI_PACK_ENV_FILTER',
  index: 'KINDGI_PACK_INDEX',
  port: 'PORT',
  logLevel: 'KINDGI_LOG_LEVEL',
  logLevels: 'KINDGI_LOG_LEVELS',
  logFormat: 'KINDGI_LOG_FORMAT',
  /**
   * Ours, not the protocol's: a folder in which our own Node service may keep what it builds from TypeScript modules.
   * Unset: a temporary folder that goes with the process.
   */
  buildDir: 'PACKGATE_BUILD_DIR',
} as const;

/** Exit codes of both programs (C38, E.3). A death by signal has none. */
export const EXIT = {
  ok: 0,
  /** `config-invalid`, `boot-failed`, an address that is taken; a pack-level error of the indexer. */
  failed: 1,
  /** Wrong usage of the indexer or of the command line. */
  usage: 2,
  /** `packgate` only: no gateway answers. */
  unreachable: 69,
  /** `packgate` only: a bad configuration. */
  badConfig: 78,
} as const;

export type EnvCheck = 'strict' | 'warn';
export type EnvFilter = 'on' | 'off';

/** Names of the lifecycle events a service writes on stderr (C20). */
export const SERVICE_EVENTS = [
  'config-invalid',
  'boot-failed',
  'listening',
  'draining',
  'stopped',
  'env-dropped',
  'missing-env',
  'call',
  'handler-finished-late',
  'tenant-mismatch',
] as const;

export type ServiceEvent = (typeof SERVICE_EVENTS)[number];
