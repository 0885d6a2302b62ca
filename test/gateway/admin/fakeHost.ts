import pino from 'pino';
import type { Logger } from 'pino';
import type { AdminHost, GatewayStatus, Operated, Reread } from '../../../gateway/admin/host.ts';
import type { DeploymentStatus, Done, Order, OrderName } from '../../../gateway/supervisor/status.ts';
import { tenantKey } from '../../../shared/protocol/tenantId.ts';

export const GATEWAY: GatewayStatus = {
  version: '0.1.0',
  pid: 4242,
  address: 'http://127.0.0.1:8787',
  startedAt: '2026-01-02T03:04:05.000Z',
  state: 'running',
  memoryBytes: 64 * 1024 * 1024,
  descriptors: 31,
  handles: { TCPServerWrap: 2 },
  instancesMemoryBytes: 96 * 1024 * 1024,
  memoryBudgetBytes: undefined,
};

/** A status of a deployment that nobody has called yet, with what is said otherwise. */
export function statusOf(tenant: string, deployment: string, other: Partial<DeploymentStatus> = {}): DeploymentStatus {
  return {
    tenant,
    deployment,
    state: 'idle',
    failures: 0,
    leaving: [],
    calls: { inFlight: 0, waiting: 0, total: 0 },
    isRolledBack: false,
    boots: [],
    ...other,
  };
}

/** A gateway that does nothing but what a test says, and writes down what it was ordered. */
export class FakeHost implements AdminHost {
  readonly statuses: DeploymentStatus[] = [];
  /** `restart acme/crm`, in order. */
  readonly orders: string[] = [];
  /** What becomes of the next orders. */
  answer: (name: OrderName) => Order = (name) => ({ accepted: true, done: Promise.resolve(ok(`${name} done`)) });
  rereads: Reread[] = [];
  state: GatewayStatus['state'] = 'running';

  add(...statuses: DeploymentStatus[]): this {
    this.statuses.push(...statuses);
    return this;
  }

  deployments(): Operated[] {
    return this.statuses.map((status) => ({
      tenantId: status.tenant,
      name: status.deployment,
      status: () => status,
      order: (name) => {
        this.orders.push(`${name} ${status.tenant}/${status.deployment}`);
        return this.answer(name);
      },
    }));
  }

  find(tenantId: string, name: string): Operated | undefined {
    return this.deployments().find((one) => tenantKey(one.tenantId) === tenantKey(tenantId) && one.name === name);
  }

  gateway(): GatewayStatus {
    return { ...GATEWAY, state: this.state };
  }

  reread(): Promise<Reread> {
    const next = this.rereads.shift();
    return next === undefined ? Promise.reject(new Error('no answer was prepared')) : Promise.resolve(next);
  }
}

export function ok(message: string): Done {
  return { ok: true, message };
}

/** A logger that keeps what it is given. */
export function keepingLog(): { log: Logger; records: Record<string, unknown>[] } {
  const records: Record<string, unknown>[] = [];
  const log = pino(
    { base: null, messageKey: 'message', formatters: { level: (label) => ({ level: label }) } },
    { write: (line: string) => void records.push(JSON.parse(line) as Record<string, unknown>) },
  );
  return { log, records };
}
