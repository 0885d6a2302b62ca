import { readdirSync } from 'node:fs';
import type { GatewayStatus } from './admin/host.ts';

/** What the gateway's own process takes; where `/proc` does not tell, `descriptors` is undefined. */
export function processStatus(): Pick<GatewayStatus, 'pid' | 'memoryBytes' | 'descriptors' | 'handles'> {
  const handles: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
  return { pid: process.pid, memoryBytes: process.memoryUsage.rss(), descriptors: countDescriptors(), handles };
}

function countDescriptors(): number | undefined {
  try {
    // One of them is for the looking.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}
