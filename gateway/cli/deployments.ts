import { tenantKey } from '../../shared/protocol/tenantId.ts';
import { EXIT } from '../../shared/process/contract.ts';
import { nearest } from '../config/nearest.ts';
import type { DeploymentStatus } from '../supervisor/status.ts';
import { askGateway } from './adminClient.ts';
import type { AdminPlace } from './adminPlace.ts';
import { CommandError, UsageError } from './command.ts';
import type { Argument } from './command.ts';
import { printable } from './printable.ts';

/** A deployment by its two names. */
export type DeploymentName = Pick<DeploymentStatus, 'tenant' | 'deployment'>;

export const DEPLOYMENT_ARGUMENT: Argument = {
  name: 'deployment',
  isRequired: true,
  help: 'tenant/name; the tenant alone where it has one deployment; the name alone where it is the only one',
};

/** More than these are not listed in a message. */
const MAX_LISTED = 12;

/** All deployments of the gateway, each with its last start. */
export async function listDeployments(place: AdminPlace): Promise<DeploymentStatus[]> {
  const { data } = await askGateway(place, 'GET', '/v1/deployments');
  const list: unknown = data.deployments;
  if (!Array.isArray(list) || !list.every(isStatus)) throw otherVersion(place);
  return list;
}

/** Everything there is to know of one deployment. Undefined when it has been removed. */
export async function lookAt(place: AdminPlace, name: DeploymentName): Promise<DeploymentStatus | undefined> {
  const { status, data } = await askGateway(place, 'GET', pathOf(name));
  if (status === 404) return undefined;
  const found: unknown = data;
  if (!isStatus(found)) throw otherVersion(place);
  return found;
}

/** Where the API has a deployment. */
export function pathOf({ tenant, deployment }: DeploymentName): string {
  return `/v1/deployments/${encodeURIComponent(tenant)}/${encodeURIComponent(deployment)}`;
}

export function nameText({ tenant, deployment }: DeploymentName): string {
  return `${tenant}/${deployment}`;
}

/**
 * The one deployment that `text` means: `tenant/name`, or a tenant that has one, or a name that is there once.
 * @throws {UsageError} where it means none or several; it names those that there are.
 */
export function deploymentMeant<T extends DeploymentName>(text: string, all: readonly T[]): T {
  // A tenant's id may have slashes in it, the name of a deployment has none.
  const slash = text.lastIndexOf('/');
  const [tenant, name] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)];
  const exact = all.find((one) => slash > 0 && isTenant(one, tenant) && one.deployment === name);
  if (exact !== undefined) return exact;
  const ofTenant = all.filter((one) => isTenant(one, text));
  const ofName = all.filter(({ deployment }) => deployment === text);
  const meant = ofTenant.length > 0 ? ofTenant : ofName;
  const [first] = meant;
  if (first === undefined) throw unknownDeployment(text, all);
  if (meant.length === 1) return first;
  throw new UsageError(`"${text}" can be ${meant.length} deployments`, `Write one of ${listed(meant)}.`);
}

function isTenant(one: DeploymentName, tenant: string): boolean {
  return tenantKey(one.tenant) === tenantKey(tenant);
}

function unknownDeployment(text: string, all: readonly DeploymentName[]): UsageError {
  const message = `the gateway has no deployment "${printable(text)}"`;
  if (all.length === 0) return new UsageError(message, 'It has none at all.');
  const near = nearest(text, [...all.map(nameText), ...all.map(({ deployment }) => deployment)]);
  return new UsageError(message, near === undefined ? `There is ${listed(all)}.` : `Did you mean ${printable(near)}?`);
}

function listed(all: readonly DeploymentName[]): string {
  const names = all.slice(0, MAX_LISTED).map((one) => printable(nameText(one)));
  const more = all.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more ("packgate status" shows them)` : names.join(', ');
}

/** As far as it is shown without asking further. A gateway of another version may say something else. */
function isStatus(value: unknown): value is DeploymentStatus {
  if (typeof value !== 'object' || value === null) return false;
  const { tenant, deployment, state, calls, boots, leaving } = value as Partial<
    Record<keyof DeploymentStatus, unknown>
  >;
  const areTexts = [tenant, deployment, state].every((text) => typeof text === 'string');
  return areTexts && typeof calls === 'object' && calls !== null && Array.isArray(boots) && Array.isArray(leaving);
}

function otherVersion({ text }: AdminPlace): CommandError {
  const hint = 'Is the gateway of the same version as this command?';
  return new CommandError(EXIT.failed, `the answer of the gateway at ${text} cannot be understood`, hint);
}
