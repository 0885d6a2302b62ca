import { Refusal } from '../../shared/http/refusal.ts';

export type Route = 'invoke' | 'info' | 'healthz' | 'readyz';

const ROUTES: ReadonlyMap<string, { readonly route: Route; readonly method: string }> = new Map([
  ['/v1/invoke', { route: 'invoke', method: 'POST' }],
  ['/v1/info', { route: 'info', method: 'GET' }],
  ['/healthz', { route: 'healthz', method: 'GET' }],
  ['/readyz', { route: 'readyz', method: 'GET' }],
]);

/**
 * The route of a request target. The raw path is compared, exactly and undecoded, with the query cut off: a gateway
 * that decodes could be made to disagree with its child (A4, A5).
 * @throws {Refusal} `not-found`, `method-not-allowed` (HEAD and OPTIONS too, A6).
 */
export function routeOf(method: string | undefined, url: string | undefined): Route {
  const target = url ?? '';
  const query = target.indexOf('?');
  const known = ROUTES.get(query < 0 ? target : target.slice(0, query));
  if (known === undefined) throw new Refusal('not-found');
  if (known.method !== method) throw new Refusal('method-not-allowed', { detail: `use ${known.method}` });
  return known.route;
}
