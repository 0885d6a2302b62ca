import { randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { HEADER } from '../../../shared/protocol/headers.ts';
import { PROTOCOL_VERSION } from '../../../shared/protocol/limits.ts';
import type { JsonObject } from '../../../shared/protocol/messages.ts';
import type { WrittenJson } from './input.ts';

/** Where another tenant than the caller's is put, so that the refusal can be seen. */
export type Foreign = 'header' | 'context' | 'both';

/** What is called. */
export type Called =
  | {
      readonly kind: 'tool';
      readonly id: string;
      readonly version: string | undefined;
      readonly input: WrittenJson;
      /** What the call carries beside its ids; what is in it wins over those. */
      readonly context: JsonObject;
    }
  | { readonly kind: 'check'; readonly id: string; readonly config: JsonObject; readonly trace: WrittenJson };

export interface CallFacts {
  readonly called: Called;
  readonly token: string;
  readonly tenant: string;
  readonly foreign: { readonly tenant: string; readonly as: Foreign } | undefined;
  readonly timeoutMs: number;
}

/** One call, ready to be sent. */
export interface Call {
  readonly requestId: string;
  readonly timeoutMs: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/** The message of a call (D2, D23) and its headers as a runtime sends them (G5). */
export function makeCall({ called, token, tenant, foreign, timeoutMs }: CallFacts): Call {
  const inHeader = foreign !== undefined && foreign.as !== 'context' ? foreign.tenant : tenant;
  const inContext = foreign !== undefined && foreign.as !== 'header' ? foreign.tenant : undefined;
  const given = called.kind === 'tool' ? called.context : {};
  const context = {
    tenantId: tenant,
    runId: `invoke-${randomUUID()}`,
    requestId: randomUUID(),
    ...given,
    ...(inContext !== undefined && { tenantId: inContext }),
  };
  const requestId = idText(context.requestId) ?? randomUUID();
  return {
    requestId,
    timeoutMs,
    headers: {
      'content-type': 'application/json',
      [HEADER.token]: token,
      [HEADER.tenantId]: inHeader,
      [HEADER.timeoutMs]: String(timeoutMs),
      [HEADER.requestId]: requestId,
      [HEADER.protocol]: String(PROTOCOL_VERSION),
      ...(idText(context.runId) !== undefined && { [HEADER.runId]: context.runId }),
    },
    body: called.kind === 'tool' ? invokeText(called, context) : checkText(called),
  };
}

/** The input goes out as it was written: parsed and written again, a long number would be another one. */
function invokeText({ id, version, input }: Called & { kind: 'tool' }, context: object): string {
  const tool = { id, ...(version !== undefined && { version }) };
  return `{"v":${PROTOCOL_VERSION},"kind":"invoke","tool":${JSON.stringify(tool)},"input":${input.text},"ctx":${JSON.stringify(context)}}`;
}

function checkText({ id, config, trace }: Called & { kind: 'check' }): string {
  const check = JSON.stringify({ id });
  return `{"v":${PROTOCOL_VERSION},"kind":"check-invoke","check":${check},"config":${JSON.stringify(config)},"trace":${trace.text}}`;
}

/** What a `--ctx` names as an id, where a header can carry it. */
function idText(value: unknown): string | undefined {
  return typeof value === 'string' && /^[!-~]{1,256}$/.test(value) ? value : undefined;
}
