import { isUuid, NO_TENANT_ID, parseTenantId } from '../../shared/protocol/tenantId.ts';
import type { DeploymentSettings } from './configuration.ts';
import { readRuntime } from './executable.ts';
import { readLevel } from './level.ts';
import type { Level, Levels } from './level.ts';
import { readFolder, readIndex, readRuntimeKind } from './pack.ts';
import type { Path } from './problem.ts';
import { present } from './raw.ts';
import type { RawConfiguration, RawPack, RawTenant } from './raw.ts';
import { readRunSettings } from './settings.ts';
import type { Surroundings } from './surroundings.ts';
import { packsOf } from './tenant.ts';
import type { WrittenPack } from './tenant.ts';

/** Where the paths of a tenant count from, by its id; of those missing here, from the configuration's own folder. */
export type TenantFolders = ReadonlyMap<string, string>;

/** All deployments of all tenants; those that cannot be run are reported and left out. */
export async function readDeployments(
  raw: RawConfiguration,
  folders: TenantFolders,
  surroundings: Surroundings,
): Promise<DeploymentSettings[]> {
  const defaults = await readLevel(['defaults'], raw.defaults ?? {}, surroundings);
  const deployments: DeploymentSettings[] = [];
  const ids = new Map<string, string>();
  for (const [id, tenant] of Object.entries(raw.tenants ?? {})) {
    checkId(id, ids, surroundings);
    const own = { ...surroundings, folder: folders.get(id) ?? surroundings.folder };
    deployments.push(...(await readTenant(id, tenant, defaults, own)));
  }
  return deployments;
}

function checkId(id: string, ids: Map<string, string>, { report }: Surroundings): void {
  const path = ['tenants', id];
  const key = parseTenantId(id)?.key ?? id;
  const twin = ids.get(key);
  ids.set(key, id);
  if (twin !== undefined) {
    const got = `"${id}", which is "${twin}" in other letter case`;
    report.problem(path, { expected: 'every tenant once', got, todo: 'A UUID is the same in both', at: 'key' });
  }
  if (key === NO_TENANT_ID) {
    report.problem(path, { expected: "a tenant's id", got: 'the id that means "no tenant"', at: 'key' });
  } else if (!isUuid(id)) {
    report.warn(path, 'runtimes have UUIDs as tenant ids, and some pack services refuse any other');
  }
}

async function readTenant(
  id: string,
  tenant: RawTenant,
  defaults: Level,
  surroundings: Surroundings,
): Promise<DeploymentSettings[]> {
  const path = ['tenants', id];
  checkForm(tenant, path, surroundings);
  const levels = [defaults, await readLevel(path, tenant, surroundings)];
  const packs = packsOf(id, tenant);
  const defaultName = readDefault(packs, [...path, 'packs'], surroundings);
  const deployments: DeploymentSettings[] = [];
  for (const pack of packs) {
    const isShortForm = tenant.packs === undefined;
    const own = isShortForm ? levels : [...levels, await readLevel(pack.path, pack.values, surroundings)];
    const deployment = await readDeployment(pack, pack.name === defaultName, own, surroundings);
    if (deployment !== undefined) deployments.push(deployment);
  }
  return deployments;
}

/** A tenant is written in one of its forms, not in both. */
function checkForm(tenant: RawTenant, path: Path, { report }: Surroundings): void {
  const other = (['packs', 'path'] as const).find((key) => tenant[key] !== undefined);
  if (tenant.pack !== undefined && other !== undefined) {
    report.problem([...path, other], { expected: `either "pack" or "${other}"`, got: 'both', at: 'key' });
  }
  if (tenant.packs === undefined) return;
  for (const key of ['hosts', 'deploymentId', 'default'] as const) {
    if (tenant[key] === undefined) continue;
    const todo = 'Move it into one of the packs';
    report.problem([...path, key], { expected: `"${key}" in a pack`, got: 'it beside "packs"', todo, at: 'key' });
  }
}

function readDefault(packs: readonly WrittenPack[], path: Path, { report }: Surroundings): string | undefined {
  const [first, second] = packs;
  if (second === undefined) return first?.name;
  const defaults = packs.filter(({ values }) => values.default === true);
  if (defaults.length !== 1 && !packs.some((pack) => report.isBad([...pack.path, 'default']))) {
    const got = defaults.length === 0 ? 'none' : defaults.map(({ name }) => `"${name}"`).join(' and ');
    const todo = 'Write "default: true" in the one that gets the calls that nothing else leads elsewhere';
    report.problem(path, { expected: 'exactly one default among several packs', got, todo, at: 'key' });
  }
  return defaults[0]?.name;
}

/** Everything is looked at before anything is given up, so that all problems are seen at once. */
async function readDeployment(
  { tenantId, name, values }: WrittenPack,
  isDefault: boolean,
  levels: Levels,
  surroundings: Surroundings,
): Promise<DeploymentSettings | undefined> {
  const run = readRunSettings(levels, surroundings);
  const folder = await readFolder(levels, surroundings);
  const kind = await readRuntimeKind(levels, folder, surroundings);
  const runtime = await readRuntime(kind, levels, folder, surroundings);
  const index = await readIndex(levels, folder, kind, surroundings);
  if (folder === undefined || runtime === undefined) return undefined;
  return {
    tenantId,
    name,
    isDefault,
    ...readRouting(values),
    path: folder.value,
    ...(index === undefined ? {} : { index }),
    runtime,
    ...run,
  };
}

function readRouting({ hosts, deploymentId }: RawPack): Pick<DeploymentSettings, 'hosts' | 'deploymentId'> {
  return {
    hosts: present(hosts).map(([, host]) => host.toLowerCase()),
    ...(deploymentId === undefined ? {} : { deploymentId }),
  };
}
