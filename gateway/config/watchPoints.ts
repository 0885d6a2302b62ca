import { lstat, readlink } from 'node:fs/promises';
import { parse, resolve, sep } from 'node:path';

/** A name in a folder: when something happens to it, what a path leads to may be another file. */
export interface WatchPoint {
  readonly folder: string;
  readonly name: string;
}

/** More links than this are a circle. */
const MAX_LINKS = 40;

/**
 * What must be watched to see any change of the file or folder at `path` (absolute): its name in its folder, which a
 * rename over it changes while the old file stays as it was; and every link on the way, since swapping one is how whole
 * folders are replaced at once (a release folder; `..data` of a mounted ConfigMap). Of what is missing, the first name
 * that is. Never throws.
 */
export async function watchPointsOf(path: string): Promise<WatchPoint[]> {
  const points: WatchPoint[] = [];
  let { root: folder } = parse(path);
  let names = namesOf(path);
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const here = resolve(folder, name);
    const stats = await lstat(here).catch(() => undefined);
    const isLink = stats?.isSymbolicLink() === true;
    if (isLink || stats === undefined || names.length === 0) points.push({ folder, name });
    if (stats === undefined) break;
    if (!isLink) {
      folder = here;
      continue;
    }
    const target = await readlink(here).catch(() => undefined);
    links += 1;
    if (target === undefined || links > MAX_LINKS) break;
    const absolute = resolve(folder, target);
    folder = parse(absolute).root;
    names = [...namesOf(absolute), ...names];
  }
  return points;
}

function namesOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((name) => name !== '');
}
