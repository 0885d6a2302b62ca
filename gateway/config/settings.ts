import { SERVICE_DRAIN_MS } from '../../shared/protocol/limits.ts';
import type { DeploymentSettings } from './configuration.ts';
import { describe } from './describe.ts';
import { nearestOf, nearestPartOf } from './level.ts';
import type { Found, Levels } from './level.ts';
import type { Surroundings } from './surroundings.ts';
import { MAX_DURATION_MS, parseDurationMs, parseSizeBytes } from './units.ts';

/** What a deployment is run with, apart from what it is and who gets to it. */
export type RunSettings = Pick<
  DeploymentSettings,
  | 'indexHash'
  | 'env'
  | 'envCheck'
  | 'bootTimeoutMs'
  | 'drainMs'
  | 'concurrency'
  | 'queue'
  | 'restart'
  | 'idleMs'
  | 'start'
  | 'recycle'
>;

const DEFAULTS = {
  envCheck: 'strict',
  bootTimeoutMs: 60_000,
  drainMs: SERVICE_DRAIN_MS,
  concurrency: 32,
  queueSize: 1000,
  queueWaitMs: 30_000,
  restartMinMs: 250,
  restartMaxMs: 60_000,
  restartHealthyMs: 60_000,
  idleMs: 15 * 60_000,
  start: 'lazy',
} as const;

/** Younger or smaller processes would be replaced faster than they start. */
const MIN_RECYCLE_AGE_MS = 1000;
const MIN_RECYCLE_MEMORY_BYTES = 2 ** 20;

/** The nearest of everything that is set, and the defaults. */
export function readRunSettings(levels: Levels, surroundings: Surroundings): RunSettings {
  const { report } = surroundings;
  const drain = nearestOf(levels, 'drain');
  const drainMs = durationMs(drain, DEFAULTS.drainMs, 0, surroundings);
  if (drain !== undefined && drainMs > SERVICE_DRAIN_MS) {
    report.warn(drain.path, 'pack services end their calls 8 s after SIGTERM, however long they are given');
  }
  const idle = nearestOf(levels, 'idle');
  const indexHash = nearestOf(levels, 'indexHash')?.value.toLowerCase();
  return {
    ...(indexHash !== undefined && { indexHash: indexHash.replace(/^(?:sha256:)?/, 'sha256:') }),
    env: readEnvOf(levels),
    envCheck: nearestOf(levels, 'envCheck')?.value ?? DEFAULTS.envCheck,
    bootTimeoutMs: durationMs(nearestOf(levels, 'bootTimeout'), DEFAULTS.bootTimeoutMs, 1, surroundings),
    drainMs,
    concurrency: nearestOf(levels, 'concurrency')?.value ?? DEFAULTS.concurrency,
    queue: {
      size: nearestPartOf(levels, 'queue', 'size')?.value ?? DEFAULTS.queueSize,
      waitMs: durationMs(nearestPartOf(levels, 'queue', 'wait'), DEFAULTS.queueWaitMs, 0, surroundings),
    },
    restart: readRestart(levels, surroundings),
    idleMs: idle?.value === 'never' ? Number.POSITIVE_INFINITY : durationMs(idle, DEFAULTS.idleMs, 1, surroundings),
    start: nearestOf(levels, 'start')?.value ?? DEFAULTS.start,
    recycle: readRecycle(levels, surroundings),
  };
}

function readRestart(levels: Levels, surroundings: Surroundings): DeploymentSettings['restart'] {
  const min = nearestPartOf(levels, 'restart', 'min');
  const max = nearestPartOf(levels, 'restart', 'max');
  const minMs = durationMs(min, DEFAULTS.restartMinMs, 0, surroundings);
  const maxMs = durationMs(max, DEFAULTS.restartMaxMs, 0, surroundings);
  const nearer = max ?? min;
  if (nearer !== undefined && maxMs < minMs) {
    surroundings.report.problem(nearer.path, {
      expected: 'a restart.max that is no shorter than restart.min',
      got: `${maxMs} ms for max and ${minMs} ms for min`,
    });
  }
  const healthy = nearestPartOf(levels, 'restart', 'healthy');
  return { minMs, maxMs, healthyMs: durationMs(healthy, DEFAULTS.restartHealthyMs, 0, surroundings) };
}

function readRecycle(levels: Levels, surroundings: Surroundings): DeploymentSettings['recycle'] {
  const age = nearestPartOf(levels, 'recycle', 'age');
  const memory = nearestPartOf(levels, 'recycle', 'memory');
  const memoryBytes = memory === undefined ? Number.POSITIVE_INFINITY : parseSizeBytes(memory.value);
  if (memory !== undefined && (memoryBytes === undefined || memoryBytes < MIN_RECYCLE_MEMORY_BYTES)) {
    const expected = memoryBytes === undefined ? 'a size that can be counted' : 'a size of at least "1MiB"';
    surroundings.report.problem(memory.path, { expected, got: describe(memory.value) });
  }
  return {
    ageMs: durationMs(age, Number.POSITIVE_INFINITY, MIN_RECYCLE_AGE_MS, surroundings),
    calls: nearestPartOf(levels, 'recycle', 'calls')?.value ?? Number.POSITIVE_INFINITY,
    memoryBytes: memoryBytes ?? Number.POSITIVE_INFINITY,
  };
}

/** The schema has seen that it is a duration; whether a timer can wait that long is judged here. */
function durationMs(
  found: Found<string> | undefined,
  defaultMs: number,
  minimumMs: number,
  { report }: Surroundings,
): number {
  if (found === undefined) return defaultMs;
  const value = parseDurationMs(found.value);
  if (value !== undefined && value >= minimumMs) return value;
  const days = Math.floor(MAX_DURATION_MS / 86_400_000);
  const least = minimumMs > 1 ? `a duration of at least ${minimumMs} ms` : 'a duration above zero';
  const expected = value === undefined ? `a duration of at most ${days} days` : least;
  report.problem(found.path, { expected, got: describe(found.value) });
  return defaultMs;
}

/** A null-prototype object, so that any name is a name. */
function readEnvOf(levels: Levels): Readonly<Record<string, string>> {
  const env: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const level of levels) for (const [name, value] of level.env) env[name] = value;
  return env;
}
