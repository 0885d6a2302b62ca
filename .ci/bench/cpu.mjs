// What a process has used of the processor, as the kernel counts it. Linux only: everything here is read from /proc.
import { readFileSync, readdirSync } from 'node:fs';

/** The length of a tick in /proc/PID/stat, in milliseconds: fixed for user space on Linux. */
const TICK_MS = 10;

/**
 * CPU time of a living process in milliseconds, user and system, with that of its children and of those it has waited
 * for. Its own threads are counted to the nanosecond, children that have ended in ticks of 10 ms.
 */
export function cpuMs(pid) {
  let ms = endedChildrenMs(pid);
  for (const thread of entriesOf(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}`;
    ms += Number(textOf(`${folder}/schedstat`).split(' ')[0]) / 1e6;
    for (const child of textOf(`${folder}/children`).split(' ').filter(Boolean)) ms += cpuMs(child);
  }
  return ms;
}

/** Whether this machine has what `cpuMs` reads. */
export function canMeasure() {
  return textOf('/proc/self/schedstat') !== '';
}

function endedChildrenMs(pid) {
  // The name, in brackets, may hold blanks; user and system time of ended children are the 16th and 17th fields.
  const [userTicks, systemTicks] = textOf(`/proc/${pid}/stat`)
    .replace(/^.*\) /, '')
    .split(' ')
    .slice(13, 15);
  return (Number(userTicks ?? 0) + Number(systemTicks ?? 0)) * TICK_MS;
}

/** Threads and children come and go while they are counted. */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function entriesOf(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
