import { readFile } from 'node:fs/promises';

/**
 * Proportional memory (PSS) of a process and its descendants, in bytes: what is shared with others counts by its share.
 * Undefined where `/proc` does not tell, or the process has gone.
 */
export async function memoryOf(pid: number): Promise<number | undefined> {
  let total: number | undefined;
  // A process that starts others while it is being looked at is not followed for ever.
  const seen = new Set<number>([pid]);
  for (const each of seen) {
    const rollup = await readFile(`/proc/${each}/smaps_rollup`, 'utf8').catch(() => '');
    const kib = /^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1];
    if (kib !== undefined) total = (total ?? 0) + Number(kib) * 1024;
    const children = await readFile(`/proc/${each}/task/${each}/children`, 'utf8').catch(() => '');
    for (const child of children.split(' ')) if (child !== '' && seen.size < MAX_PROCESSES) seen.add(Number(child));
  }
  return total;
}

const MAX_PROCESSES = 64;
