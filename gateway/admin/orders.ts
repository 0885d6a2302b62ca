import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import type { Done, OrderName } from '../supervisor/status.ts';
import type { AdminHost, Operated } from './host.ts';
import { waitOf, within } from './wait.ts';

/** Names of the orders that a deployment takes. */
export const ORDER_NAMES: readonly OrderName[] = ['reload', 'restart', 'stop', 'start', 'rollback'];

export interface OrderDeps {
  readonly host: AdminHost;
  readonly log: Logger;
  readonly via: 'unix' | 'tcp';
  /** Aborted when the listener closes: whoever waits then is answered, the order goes on. */
  readonly closing: AbortSignal;
}

/** Gives an order to a deployment: 202 when it is taken, 200 or 409 for how it ended where the caller waits for that. */
export async function giveOrder(
  deps: OrderDeps,
  deployment: Operated,
  name: OrderName,
  request: Request,
  response: Response,
): Promise<void> {
  const waitMs = waitOf(request.query.wait);
  const order = deployment.order(name);
  const fields = { ...whoOf(request, deps.via), order: name, tenant: deployment.tenantId, deployment: deployment.name };
  if (!order.accepted) {
    const { code, message } = order;
    deps.log.warn({ event: 'order', ...fields, accepted: false, code }, `order refused: ${message}`);
    response.status(409).json({ accepted: false, code, error: message });
    return;
  }
  deps.log.info({ event: 'order', ...fields, accepted: true }, 'order taken');
  logEnd(deps.log, fields, order.done);
  const done = waitMs === undefined ? undefined : await within(order.done, waitMs, deps.closing, leaving(response));
  if (done !== undefined) response.status(done.ok ? 200 : 409).json(done);
  else response.status(202).json({ accepted: true, ...(waitMs !== undefined && { done: false }) });
}

/** Reads the configuration again. */
export async function giveReload({ host, log, via }: OrderDeps, request: Request, response: Response): Promise<void> {
  log.info({ event: 'order', ...whoOf(request, via), order: 'reload' }, 'order taken: read the configuration again');
  const reread = await host.reread();
  if (reread.ok) {
    response.json(reread);
    return;
  }
  const message = 'the configuration has problems; nothing was changed';
  response.status(409).json({ ok: false, code: 'config-rejected', message, problems: reread.problems });
}

function whoOf(request: Request, via: 'unix' | 'tcp'): { who: string; from?: string } {
  const from = request.socket.remoteAddress;
  return { who: via, ...(via === 'tcp' && from !== undefined && { from }) };
}

function logEnd(log: Logger, fields: object, done: Promise<Done>): void {
  done.then(
    (end) => {
      if (end.ok) log.info({ event: 'order-done', ...fields, ok: true }, end.message);
      else log.warn({ event: 'order-done', ...fields, ok: false, code: end.code }, end.message);
    },
    (cause: unknown) => log.error({ event: 'internal-error', ...fields, err: cause }, 'a bug of packgate'),
  );
}

/** Aborted when the caller has left: nobody is waiting any more. */
function leaving(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}
