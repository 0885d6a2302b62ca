import { needCheck, needTool } from '../packNeeds.ts';
import type { Service } from '../service.ts';
import { exchange } from './request.ts';
import type { Headers, RawRequest } from './request.ts';
import type { RawResponse } from './response.ts';

/** The path of the only route that takes messages. */
export const INVOKE = '/v1/invoke';

type PostOptions = Pick<RawRequest, 'headers' | 'framing'>;

interface MessageOptions {
  readonly version?: string;
  /** Added to the call's context, which names the tenant and a run of its own. */
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** Posts a body to `/v1/invoke`. */
export function post(service: Service, body: string | Buffer, options: PostOptions = {}): Promise<RawResponse> {
  const { headers, framing } = options;
  return exchange(service, {
    method: 'POST',
    path: INVOKE,
    body,
    ...(headers && { headers }),
    ...(framing !== undefined && { framing }),
  });
}

/** Calls a tool of the pack. */
export function invoke(
  service: Service,
  toolId: string,
  input: unknown,
  options: PostOptions & MessageOptions = {},
): Promise<RawResponse> {
  return post(service, JSON.stringify(invokeMessage(service, toolId, input, options)), options);
}

/** Calls a check of the pack; `trace` is left out when undefined. */
export function check(
  service: Service,
  checkId: string,
  config: unknown,
  trace: unknown,
  options: PostOptions = {},
): Promise<RawResponse> {
  needCheck(service, checkId);
  return post(service, JSON.stringify({ v: 2, kind: 'check-invoke', check: { id: checkId }, config, trace }), options);
}

export function get(service: Service, path: string, headers: Headers = {}): Promise<RawResponse> {
  return exchange(service, { method: 'GET', path, headers });
}

/** An `invoke` message for `service`, with a run id that no other call has. */
export function invokeMessage(
  service: Service,
  toolId: string,
  input: unknown,
  options: MessageOptions = {},
): Readonly<Record<string, unknown>> {
  needTool(service, toolId);
  return {
    v: 2,
    kind: 'invoke',
    tool: { id: toolId, ...(options.version !== undefined && { version: options.version }) },
    input,
    ctx: { tenantId: tenantOf(service), runId: crypto.randomUUID(), ...options.ctx },
  };
}

/** The tenant that calls of a service are for; an unpinned one runs them for any. */
export function tenantOf({ tenantId }: Pick<Service, 'tenantId'>): string {
  return tenantId ?? 'nobody';
}

/** The bytes of a call of the tool that gives its message back. */
export function echoBody(service: Service, message = 'hello'): string {
  return JSON.stringify(invokeMessage(service, ECHO, { message }));
}

/** Ids of the conformance pack. */
export const ECHO = 'conformance.echo';
export const SLEEP = 'conformance.sleep';
export const HOLD = 'conformance.hold';
