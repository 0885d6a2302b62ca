import { tenantKey } from '../../shared/protocol/tenantId.ts';
import type { DeploymentSettings, TokenGrant } from './configuration.ts';
import { pathText } from './problem.ts';
import type { Path } from './problem.ts';
import { present } from './raw.ts';
import type { RawConfiguration } from './raw.ts';
import { serviceName } from './serviceName.ts';
import type { Surroundings } from './surroundings.ts';
import { allPacks } from './tenant.ts';
import type { WrittenPack } from './tenant.ts';

/** No two deployments are reached by one host or by one service name (G2). */
export function checkRoutes(raw: RawConfiguration, { report }: Surroundings): void {
  const owners = new Map<string, string>();
  for (const pack of allPacks(raw)) {
    const place = pathText(pack.path);
    for (const { name, what, path } of claimsOf(pack)) {
      const owner = owners.get(name);
      if (owner !== undefined) {
        const got = `${name}, which ${owner === place ? 'it has already' : `${owner} has, too`}`;
        report.problem(path, { expected: `a ${what} of its own`, got });
      }
      owners.set(name, place);
    }
  }
}

function claimsOf({ tenantId, values, path }: WrittenPack): { name: string; what: string; path: Path }[] {
  const { hosts, deploymentId } = values;
  const claims: { name: string; what: string; path: Path }[] = [];
  for (const [index, host] of present(hosts)) {
    claims.push({ name: host.toLowerCase(), what: 'host', path: [...path, 'hosts', index] });
  }
  if (deploymentId !== undefined) {
    const name = serviceName(tenantId, deploymentId);
    claims.push({ name, what: 'service name', path: [...path, 'deploymentId'] });
  }
  return claims;
}

/** Says which deployments no caller can reach. */
export function warnOfUnreachable(
  raw: RawConfiguration,
  deployments: readonly DeploymentSettings[],
  tokens: readonly TokenGrant[],
  { report }: Surroundings,
): void {
  const isDefault = new Set(deployments.filter((deployment) => deployment.isDefault).map(nameOf));
  for (const { tenantId, name, path, values } of allPacks(raw)) {
    const key = tenantKey(tenantId);
    const opening = tokens.filter(({ tenants }) => tenants === 'any' || tenants.includes(key));
    const isLedTo =
      isDefault.has(nameOf({ tenantId, name })) ||
      present(values.hosts).length > 0 ||
      values.deploymentId !== undefined ||
      opening.some(({ deployment }) => deployment === name);
    if (!opening.some(({ deployment }) => deployment === undefined || deployment === name)) {
      report.warn(path, 'no token opens it');
    } else if (!isLedTo) {
      report.warn(
        path,
        'nothing leads to it: no host, no deployment id, no token bound to it, and it is not the default',
      );
    }
  }
}

function nameOf({ tenantId, name }: { readonly tenantId: string; readonly name: string }): string {
  return JSON.stringify([tenantId, name]);
}
