import type { InstancePlan } from '../supervisor/instance.ts';
import type { FaultOrders } from './orders.ts';

/** A port that nobody who starts a pack service can be listening on. */
const NOBODYS_PORT = 1;

/**
 * The plan of an instance, spoilt if its start is to meet a fault. `never-ready`: nothing of what it says on stderr is
 * heard, so that it is not known to listen and its `bootTimeout` passes. `forged-line`: the first listening line, which
 * alone counts, names another's port (C25): the gateway's own, if it has one, which answers `/readyz`, so that the
 * proof has to find it out.
 */
export function orderedStart(plan: InstancePlan, faults: FaultOrders, gatewayPort: number | undefined): InstancePlan {
  const { launch } = plan;
  switch (faults.ofStart(plan.tenantId)) {
    case undefined:
      return plan;
    case 'never-ready':
      return { ...plan, launch: (token, sinks) => launch(token, { ...sinks, onStderr: () => undefined }) };
    case 'forged-line':
      return {
        ...plan,
        launch: (token, sinks) => {
          const launched = launch(token, sinks);
          const line = { kind: 'listening', port: gatewayPort ?? NOBODYS_PORT };
          sinks.onStderr(Buffer.from(`${JSON.stringify(line)}\n`));
          return launched;
        },
      };
  }
}
