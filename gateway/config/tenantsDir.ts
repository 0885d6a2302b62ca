import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, parse, resolve } from 'node:path';
import { tenantKey } from '../../shared/protocol/tenantId.ts';
import type { TenantFolders } from './deployments.ts';
import { describe } from './describe.ts';
import { troubleOf } from './files.ts';
import { judgeTenant } from './judge.ts';
import type { RawConfiguration, RawTenant } from './raw.ts';
import { readSource } from './source.ts';
import { readPart } from './surroundings.ts';
import type { Surroundings } from './surroundings.ts';

const ENDINGS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);
const ID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;
const MAX_FILE_BYTES = 1024 * 1024;
/** What editors and package managers leave beside a file, and what is hidden. Nobody takes these for tenants. */
const LEFTOVER = /^\.|~$|^#.*#$|\.(?:sw[a-z]|tmp|bak|orig|rej|dpkg-\w+|rpm\w+)$/;

/** Whether a file of `tenantsDir` by that name is one of a tenant. */
export function isTenantFile(name: string): boolean {
  return ENDINGS.has(parse(name).ext) && !LEFTOVER.test(name);
}

/** All tenants, wherever they are written, and the folders that the paths of the further ones count from. */
export interface Tenants {
  readonly tenants: Readonly<Record<string, RawTenant>>;
  readonly folders: TenantFolders;
}

/**
 * Adds the tenants of `tenantsDir` to those under `tenants`. What is wrong is reported, with the file it is in; a tenant
 * that is written twice is left out the second time.
 */
export async function readTenantsDir(raw: RawConfiguration, surroundings: Surroundings): Promise<Tenants> {
  const tenants = Object.assign(Object.create(null) as Record<string, RawTenant>, raw.tenants);
  const folders = new Map<string, string>();
  if (raw.tenantsDir === undefined) return { tenants, folders };
  const folder = resolve(surroundings.folder, raw.tenantsDir);
  const { report, sources, shown } = surroundings;
  sources.add(folder);
  const owners = new Map(Object.keys(tenants).map((id) => [tenantKey(id), `"tenants"`]));
  for (const name of await namesIn(folder, surroundings)) {
    const path = join(folder, name);
    const id = parse(name).name;
    const owner = owners.get(tenantKey(id));
    owners.set(tenantKey(id), shown(path));
    if (!ID.test(id)) {
      const expected = 'a tenant\'s id as its name: 1 to 128 letters, digits, ".", "_" and "-", no "." first';
      report.fileProblem(shown(path), { expected, got: describe(id) });
    } else if (owner !== undefined) {
      const got = `tenant ${describe(id)}, which is in ${owner} as well`;
      report.fileProblem(shown(path), { expected: 'every tenant once', got, todo: 'Remove one of the two' });
    } else {
      const tenant = await readTenantFile(path, id, surroundings);
      folders.set(id, folder);
      if (tenant !== undefined) tenants[id] = tenant;
    }
  }
  return { tenants, folders };
}

/** Names of the tenants' files in their order. Others are warned of, or are plainly none. */
async function namesIn(folder: string, { report }: Surroundings): Promise<string[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const got = code === 'ENOENT' ? 'one that does not exist' : code === 'ENOTDIR' ? 'a file' : troubleOf(error);
    report.problem(['tenantsDir'], { expected: 'the path of a folder', got });
    return [];
  }
  const entriesInOrder = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entriesInOrder) {
    if (isTenantFile(entry.name) || LEFTOVER.test(entry.name) || entry.isDirectory()) continue;
    const text = `${describe(entry.name)} in it is not read: tenants' files end in .yaml, .yml or .json`;
    report.warn(['tenantsDir'], text);
  }
  return entriesInOrder.map(({ name }) => name).filter(isTenantFile);
}

async function readTenantFile(path: string, id: string, surroundings: Surroundings): Promise<RawTenant | undefined> {
  const { report, shown } = surroundings;
  const found = await readPart(path, MAX_FILE_BYTES, surroundings);
  if ('trouble' in found) {
    report.fileProblem(shown(path), { expected: "a tenant's file that can be read", got: found.trouble });
    report.suspect(['tenants', id]);
    return undefined;
  }
  const source = readSource(found.text);
  report.includeTenant(id, shown(path), source);
  return source.value === undefined ? undefined : judgeTenant(source.value, id, report);
}
