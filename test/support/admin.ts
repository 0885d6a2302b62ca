import { request } from 'node:http';
import type { DeploymentStatus, OrderName } from '../../gateway/supervisor/status.ts';
import type { Gateway } from './gateway.ts';

/** What the admin side answered. */
export interface AdminAnswer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface OrderOptions {
  /** Whether to wait for how it ends; or how long at most, with a unit. */
  readonly wait?: boolean | string;
}

/** Gives an order to a deployment over the gateway's admin socket. */
export function order(
  gateway: Gateway,
  tenantId: string,
  deployment: string,
  name: OrderName,
  { wait = false }: OrderOptions = {},
): Promise<AdminAnswer> {
  const query = wait === false ? '' : `?wait=${wait === true ? '1' : wait}`;
  return askAdmin(gateway, 'POST', `${pathOf(tenantId, deployment)}/${name}${query}`);
}

/** What operators see of a deployment. */
export async function statusOf(gateway: Gateway, tenantId: string, deployment = 'default'): Promise<DeploymentStatus> {
  const { status, json } = await askAdmin(gateway, 'GET', pathOf(tenantId, deployment));
  if (status !== 200) throw new Error(`the status was answered with ${status}: ${JSON.stringify(json)}`);
  return json as unknown as DeploymentStatus;
}

/** Has the gateway read its configuration again. */
export function rereadConfiguration(gateway: Gateway): Promise<AdminAnswer> {
  return askAdmin(gateway, 'POST', '/v1/reload');
}

function pathOf(tenantId: string, deployment: string): string {
  return `/v1/deployments/${encodeURIComponent(tenantId)}/${encodeURIComponent(deployment)}`;
}

/** Asks anything of the admin side. */
export function askAdmin(gateway: Gateway, method: string, path: string): Promise<AdminAnswer> {
  const listening = gateway.records.find(({ event }) => event === 'listening');
  const socketPath = /^unix:(.*)$/.exec(String(listening?.adminAddress))?.[1] ?? '';
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath, method, path, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      answer.on('end', () => {
        const json = JSON.parse(Buffer.concat(chunks).toString()) as AdminAnswer['json'];
        resolve({ status: answer.statusCode ?? 0, json });
      });
    });
    asking.on('error', reject).end();
  });
}
