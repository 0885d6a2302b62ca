/** A duration for people, in its two greatest units: `250 ms`, `12 s`, `5m 12s`, `3h 12m`, `2d 4h`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size for people: `512 B`, `84.2 MiB`. */
export function bytesText(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${UNITS[unit] ?? ''}`;
}

/** How long ago `at` (ISO 8601) was at `nowMs` (since 1970); `-` where it is no time. */
export function sinceText(at: string, nowMs: number): string {
  const ms = nowMs - Date.parse(at);
  return Number.isNaN(ms) ? '-' : durationText(ms);
}
