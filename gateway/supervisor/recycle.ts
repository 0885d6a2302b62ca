import type { DeploymentSettings } from '../config/configuration.ts';
import type { Run } from './boot.ts';

/** Why an instance has been used long enough, in words; undefined while it has not. `now` is on the clock of `readyAt`. */
export function recycleReason(
  recycle: DeploymentSettings['recycle'],
  { readyAt, target, memoryBytes }: Pick<Run, 'readyAt' | 'target' | 'memoryBytes'>,
  now: number,
): string | undefined {
  const ageMs = now - (readyAt ?? now);
  const calls = target?.calls ?? 0;
  if (ageMs >= recycle.ageMs) return `it is ${Math.round(ageMs / 1000)} s old`;
  if (calls >= recycle.calls) return `it has had ${calls} calls`;
  if (memoryBytes !== undefined && memoryBytes >= recycle.memoryBytes) {
    return `it takes ${Math.round(memoryBytes / 1024 / 1024)} MiB`;
  }
  return undefined;
}
