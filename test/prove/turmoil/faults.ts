import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { order, statusOf } from '../../support/admin.ts';
import type { HostedStub } from '../../support/hostedStubs.ts';
import type { Gateway } from '../../support/gateway.ts';
import type { Caller } from './caller.ts';
import type { PlannedFault } from './plan.ts';

/** How many calls a flood is made of: more than may run and wait together. */
const FLOOD_CALLS = 120;

export interface Scene {
  readonly folder: string;
  readonly gateway: Gateway;
  readonly stubs: readonly HostedStub[];
  readonly caller: Caller;
}

/** Lets one fault happen. What it orders goes on by itself; calls of a flood are returned with their attempts. */
export async function cause({ kind, tenant, at }: PlannedFault, scene: Scene): Promise<readonly Attempts[]> {
  const stub = scene.stubs[tenant];
  if (stub === undefined) throw new RangeError(`there is no tenant ${tenant}`);
  switch (kind) {
    case 'kill':
      await signalServing(scene, stub, 'SIGKILL');
      return [];
    case 'terminate':
      await signalServing(scene, stub, 'SIGTERM');
      return [];
    case 'reload':
    case 'restart':
      await order(scene.gateway, stub.tenantId, 'default', kind);
      return [];
    case 'stop and start':
      await order(scene.gateway, stub.tenantId, 'default', 'stop');
      await order(scene.gateway, stub.tenantId, 'default', 'start');
      return [];
    case 'broken pack':
      stub.behave({ bootFailure: { afterMs: 20, problems: ['broken on purpose'] } });
      await order(scene.gateway, stub.tenantId, 'default', 'reload', { wait: true });
      stub.behave({});
      return [];
    case 'flood':
      return Promise.all(
        Array.from({ length: FLOOD_CALLS }, (_, n) =>
          scene.caller.call(flooded(at, n), stub.tenantId, { tenant, kind: 'slow', ms: 5 }),
        ),
      );
    case 'reconfigure':
      reconfigure(scene, stub);
      return [];
  }
}

type Attempts = Awaited<ReturnType<Caller['call']>>;

/** Numbers that no planned call has. */
function flooded(at: number, n: number): number {
  return 1_000_000_000 + at * FLOOD_CALLS + n;
}

async function signalServing({ gateway }: Scene, stub: HostedStub, signal: NodeJS.Signals): Promise<void> {
  const { serving } = await statusOf(gateway, stub.tenantId, 'default');
  if (serving?.pid === undefined) return;
  try {
    process.kill(serving.pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

/** Another environment for one tenant: its process is replaced, and no other. */
function reconfigure({ folder, gateway }: Scene, stub: HostedStub): void {
  const file = join(folder, 'packgate.yaml');
  const configuration = JSON.parse(readFileSync(file, 'utf8')) as { tenants: Record<string, { env?: object }> };
  const entry = configuration.tenants[stub.tenantId];
  if (entry === undefined) throw new Error('the tenant is not in the configuration');
  entry.env = { TURN: String(performance.now()) };
  writeFileSync(file, JSON.stringify(configuration));
  gateway.signal('SIGHUP');
}
