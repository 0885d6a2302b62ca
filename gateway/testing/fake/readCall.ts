import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorCode } from '../../../shared/protocol/codes.ts';
import { HEADER } from '../../../shared/protocol/headers.ts';
import type { JsonText } from '../../../shared/protocol/jsonText.ts';
import { PROTOCOL_VERSION } from '../../../shared/protocol/limits.ts';
import type { CallContext, CheckInvokeRequest, InvokeRequest } from '../../../shared/protocol/messages.ts';
import type { FakeCall } from '../script.ts';

/** A call, or what its body is answered because it is none (D1). */
export type ReadCall = { readonly call: FakeCall } | { readonly code: ErrorCode; readonly message: string };

type Loose<T> = { readonly [K in keyof T]?: unknown };

/** Reads a call from a body; no more is asked of it than a service asks (D2). */
export function readCall(json: JsonText, headers: IncomingHttpHeaders, run: Pick<FakeCall, 'start' | 'pid'>): ReadCall {
  if (!json.ok) return malformed(json.why);
  const message = json.value as Loose<InvokeRequest & Omit<CheckInvokeRequest, 'kind'>> | null;
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return malformed('not an object');
  if (message.v !== PROTOCOL_VERSION) return { code: 'unknown-protocol-version', message: 'v must be 2' };
  const { [HEADER.token]: _, ...rest } = headers;
  const common = { ...run, tenant: textOf(headers[HEADER.tenantId]), headers: rest };
  if (message.kind === 'invoke') {
    const id = idOf(message.tool);
    const ctx = contextOf(message.ctx);
    if (id === undefined || ctx === undefined) return malformed('tool.id or ctx is missing');
    const input = message.input as FakeCall['input'];
    return { call: { ...common, kind: 'invoke', id, ctx, ...(input !== undefined && { input }) } };
  }
  if ((message.kind as unknown) === 'check-invoke') {
    const id = idOf(message.check);
    if (id === undefined) return malformed('check.id is missing');
    const { config, trace } = message as Pick<FakeCall, 'config' | 'trace'>;
    return {
      call: {
        ...common,
        kind: 'check-invoke',
        id,
        ...(config !== undefined && { config }),
        ...(trace !== undefined && { trace }),
      },
    };
  }
  return { code: 'unexpected-message-kind', message: 'kind must be invoke or check-invoke' };
}

function malformed(message: string): ReadCall {
  return { code: 'malformed-message', message };
}

function idOf(value: unknown): string | undefined {
  const id = (value as { readonly id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function contextOf(value: unknown): CallContext | undefined {
  const ctx = value as Loose<CallContext> | null | undefined;
  return typeof ctx?.tenantId === 'string' && typeof ctx.runId === 'string' ? (ctx as CallContext) : undefined;
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}
