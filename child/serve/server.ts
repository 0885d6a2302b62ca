import { hash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import { asRefusal, Refusal } from '../../shared/http/refusal.ts';
import { HEADER } from '../../shared/protocol/headers.ts';
import { SERVICE_KEEP_ALIVE_MS } from '../../shared/protocol/limits.ts';
import type { TenantId } from '../../shared/protocol/tenantId.ts';
import type { Admission } from './admission.ts';
import { sendJson, sendRefusal } from './answer.ts';
import { answerCall, isForeign, refusalFields, tenantMismatch } from './call.ts';
import type { Events } from './events.ts';
import type { Pack } from './pack.ts';
import { packInfo } from './pack.ts';

/** Everything a request needs; made once at boot. */
export interface Service {
  readonly pack: Pack;
  readonly admission: Admission;
  readonly events: Events;
  /** SHA-256 of the token that callers must send. */
  readonly tokenHash: Buffer;
  /** The tenant the service is pinned to; undefined serves any. */
  readonly tenant: TenantId | undefined;
  /** All names that are missing, whatever the env check makes of it (C17). */
  readonly missingEnv: readonly string[];
}

interface Route {
  readonly method: 'GET' | 'POST';
  /** Whether token and tenant are asked for. */
  readonly isGuarded: boolean;
  readonly answer: (service: Service, request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
}

const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/v1/invoke', { method: 'POST', isGuarded: true, answer: answerCall }],
  ['/v1/info', { method: 'GET', isGuarded: true, answer: answerInfo }],
  ['/healthz', { method: 'GET', isGuarded: false, answer: answerHealth }],
  ['/readyz', { method: 'GET', isGuarded: false, answer: answerReady }],
]);

export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** The pack service's HTTP server, not yet listening. */
export function createPackServer(service: Service): Server {
  const server = createServer({ keepAliveTimeout: SERVICE_KEEP_ALIVE_MS }, (request, response) => {
    void answerRequest(service, request, response);
  });
  return server;
}

/** Route 404, method 405, token 401, tenant header 421 (A2 steps 1 to 4), then the route's own answer. */
async function answerRequest(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    // While draining, no connection is worth keeping.
    if (service.admission.isDraining) response.shouldKeepAlive = false;
    const route = ROUTES.get(pathOf(request.url ?? ''));
    if (route === undefined) return sendRefusal(response, new Refusal('not-found'));
    if (request.method !== route.method) {
      return sendRefusal(response, new Refusal('method-not-allowed', { detail: `use ${route.method}` }));
    }
    if (route.isGuarded) {
      if (!hasToken(service, request)) return sendRefusal(response, new Refusal('bad-token'));
      if (isForeign(service, headerOf(request, HEADER.tenantId))) {
        return sendRefusal(response, tenantMismatch(service, 'header'));
      }
    }
    await route.answer(service, request, response);
  } catch (error) {
    service.events.log.error('The service failed to answer a request', { error });
    if (response.headersSent) response.destroy();
    else sendRefusal(response, asRefusal(error));
  }
}

function answerInfo({ pack, missingEnv }: Service, _request: IncomingMessage, response: ServerResponse): void {
  sendJson(response, 200, JSON.stringify(packInfo(pack, missingEnv)));
}

function answerHealth(_service: Service, _request: IncomingMessage, response: ServerResponse): void {
  sendJson(response, 200, '{"status":"ok"}');
}

function answerReady(service: Service, _request: IncomingMessage, response: ServerResponse): void {
  const refusal = service.admission.notReady();
  if (refusal === undefined) sendJson(response, 200, '{"status":"ready"}');
  else sendRefusal(response, refusal, refusalFields(service, refusal));
}

/** The raw path, compared as it came: nothing is decoded or normalised (A4, A5). */
function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}

/** Compared in constant time. A header sent twice arrives joined with a comma and a blank, which no token contains (A17). */
function hasToken({ tokenHash }: Service, request: IncomingMessage): boolean {
  const token = headerOf(request, HEADER.token);
  return token !== undefined && timingSafeEqual(hashToken(token), tokenHash);
}

/**
 * A header's value; Node has taken the blanks and tabs around it away (A16). Not trimmed again: of a header sent twice, the
 * second time empty, that would take the blank which tells it from one sent once.
 */
function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}
