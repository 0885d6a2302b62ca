import express from 'express';
import type { ErrorRequestHandler, Express, Request, RequestHandler } from 'express';
import type { DeploymentStatus } from '../supervisor/status.ts';
import { tenantKey } from '../../shared/protocol/tenantId.ts';
import { guard } from './guard.ts';
import type { GuardOptions } from './guard.ts';
import type { ComingCall, Operated } from './host.ts';
import { giveOrder, giveReload, ORDER_NAMES } from './orders.ts';
import type { OrderDeps } from './orders.ts';
import { AdminRefusal, asAdminRefusal } from './refusal.ts';

/** No order has a body; a client that sends an empty object anyway is none the worse for it. */
const MAX_BODY_BYTES = 4 * 1024;

/**
 * The admin API: what operators see and what they order. Every answer is JSON; a refusal is `{error, code}`. Nothing of a
 * path is ever used as a path: parameters are looked up, whatever they decode to.
 */
export function adminApp(deps: OrderDeps, guardOptions: GuardOptions): Express {
  const { host, log } = deps;
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.enable('case sensitive routing').enable('strict routing');
  app.use((_request, response, next) => {
    response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    next();
  });

  on(app, '/healthz', 'GET', (_request, response) => void response.json({ status: 'ok' }));
  on(app, '/readyz', 'GET', (_request, response) => {
    const isRunning = host.gateway().state === 'running';
    response
      .status(isRunning ? 200 : 503)
      .json(isRunning ? { status: 'ready' } : { error: 'draining', code: 'draining' });
  });

  app.use(guard(guardOptions));
  app.use(express.raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false }));

  on(app, '/v1/gateway', 'GET', (_request, response) => void response.json(host.gateway()));
  on(app, '/v1/reload', 'POST', (request, response) => giveReload(deps, request, response));
  on(app, '/v1/deployments', 'GET', (request, response) => {
    const withAll = hasAllBoots(request.query.boots);
    const statuses = host.deployments().map((deployment) => deployment.status());
    response.json({ deployments: withAll ? statuses : statuses.map(compact) });
  });
  on(app, '/v1/deployments/:tenant/:name', 'GET', (request, response) => {
    response.json(asked(deps, request).status());
  });
  for (const name of ORDER_NAMES) {
    on(app, `/v1/deployments/:tenant/:name/${name}`, 'POST', (request, response) =>
      giveOrder(deps, asked(deps, request), name, request, response),
    );
  }

  const { standInsFor } = host;
  if (standInsFor !== undefined) {
    on(app, '/v1/stand-ins', 'POST', async (request, response) => {
      const offer = await standInsFor(comingCall(request));
      if (offer === undefined) throw new AdminRefusal('unknown-deployment', 'no pack of that tenant is developed here');
      response.json(offer);
    });
  }

  app.use(() => {
    throw new AdminRefusal('not-found', 'no such path on the admin listener');
  });
  // Express knows a handler of errors by its four parameters.
  const answerError: ErrorRequestHandler = (cause, request, response, _next) => {
    const refusal = asAdminRefusal(cause);
    if (refusal.code === 'internal') log.error({ event: 'internal-error', err: refusal.cause }, 'a bug of packgate');
    else if (refusal.status === 401 || refusal.status === 403) {
      const from = request.socket.remoteAddress;
      log.warn({ event: 'admin-refused', code: refusal.code, ...(from !== undefined && { from }) }, refusal.message);
    }
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (refusal.status === 401) response.set('www-authenticate', 'Bearer');
    response.status(refusal.status).json({ error: refusal.message, code: refusal.code, ...refusal.details });
  };
  app.use(answerError);
  return app;
}

/** One path that takes one method (GET takes HEAD, too); any other is 405. */
function on(app: Express, path: string, method: 'GET' | 'POST', handler: RequestHandler): void {
  const route = app.route(path);
  if (method === 'GET') route.get(handler);
  else route.post(handler);
  route.all((_request, response) => {
    const allowed = method === 'GET' ? 'GET, HEAD' : 'POST';
    response.set('allow', allowed);
    throw new AdminRefusal('method-not-allowed', `wrong method: ${allowed} is taken here`);
  });
}

/** The deployment that the path names. */
function asked({ host }: OrderDeps, { params }: Request): Operated {
  const [tenant, name] = [String(params.tenant), String(params.name)];
  const deployment = host.find(tenant, name);
  if (deployment !== undefined) return deployment;
  const known = host
    .deployments()
    .filter(({ tenantId }) => tenantKey(tenantId) === tenantKey(tenant))
    .map((other) => other.name);
  const there = known.length === 0 ? 'there is no such tenant' : `there is ${known.join(', ')}`;
  const message = `no deployment ${JSON.stringify(name)} of tenant ${JSON.stringify(tenant)}: ${there}`;
  throw new AdminRefusal('unknown-deployment', message, { details: { known } });
}

/** The call that the query tells of. */
function comingCall({ query: { tenant, tool, timeoutMs } }: Request): ComingCall {
  const ms = typeof timeoutMs === 'string' && /^\d{1,10}$/.test(timeoutMs) ? Number(timeoutMs) : undefined;
  if (typeof tenant !== 'string' || typeof tool !== 'string' || ms === undefined) {
    throw new AdminRefusal('bad-request', 'tenant, tool and timeoutMs say which call is to be made');
  }
  return { tenantId: tenant, toolId: tool, timeoutMs: ms };
}

function hasAllBoots(value: unknown): boolean {
  if (value === undefined || value === 'newest') return false;
  if (value === 'all') return true;
  throw new AdminRefusal('bad-request', 'boots must be "newest" or "all"');
}

/** Of the starts only the last one: a list of many deployments stays readable. */
function compact(status: DeploymentStatus): DeploymentStatus {
  return { ...status, boots: status.boots.slice(0, 1) };
}
