import type { ErrorCode } from '../../shared/protocol/codes.ts';
import { parseJsonBytes } from '../../shared/protocol/jsonText.ts';
import { PROTOCOL_VERSION } from '../../shared/protocol/limits.ts';

type Bag = Record<string, unknown>;

/** A message as far as it was checked (D1, D2): the rest of it is as the caller sent it. */
export type ParsedRequest =
  | {
      readonly kind: 'invoke';
      readonly tool: { readonly id: string; readonly version: string | undefined };
      readonly input: unknown;
      readonly ctx: Bag & { readonly tenantId: string; readonly runId: string };
    }
  | { readonly kind: 'check-invoke'; readonly checkId: string; readonly config: Bag; readonly trace: unknown };

/** Why a body is no message to dispatch. */
export interface BadRequest {
  readonly kind: 'bad';
  readonly code: ErrorCode;
  readonly message: string;
}

/** Reads a body as a request message: JSON object, `v`, `kind`, then the fields, in this order (D1). Lenient on extras. */
export function parseRequest(body: Buffer): ParsedRequest | BadRequest {
  const json = parseJsonBytes(body);
  if (!json.ok) return malformed(json.why);
  const message = json.value;
  if (!isBag(message)) return malformed('the message must be a JSON object');
  if (message.v !== PROTOCOL_VERSION) {
    return bad('unknown-protocol-version', `this service speaks protocol version ${PROTOCOL_VERSION} only`);
  }
  switch (message.kind) {
    case 'invoke':
      return parseInvoke(message);
    case 'check-invoke':
      return parseCheckInvoke(message);
    default:
      return bad('unexpected-message-kind', 'a request has the kind `invoke` or `check-invoke`');
  }
}

function parseInvoke({ tool, input, ctx }: Bag): ParsedRequest | BadRequest {
  if (!isBag(tool) || !isName(tool.id)) return malformed('`tool.id` must be a non-empty string');
  const { version } = tool;
  if (version !== undefined && typeof version !== 'string') return malformed('`tool.version` must be a string');
  if (!isBag(ctx)) return malformed('`ctx` must be an object');
  const { tenantId, runId } = ctx;
  if (typeof tenantId !== 'string') return malformed('`ctx.tenantId` must be a string');
  if (typeof runId !== 'string') return malformed('`ctx.runId` must be a string');
  return { kind: 'invoke', tool: { id: tool.id, version }, input, ctx: Object.assign(ctx, { tenantId, runId }) };
}

function parseCheckInvoke({ check, config, trace }: Bag): ParsedRequest | BadRequest {
  if (!isBag(check) || !isName(check.id)) return malformed('`check.id` must be a non-empty string');
  if (!isBag(config)) return malformed('`config` must be an object');
  return { kind: 'check-invoke', checkId: check.id, config, trace };
}

function malformed(message: string): BadRequest {
  return bad('malformed-message', message);
}

function bad(code: ErrorCode, message: string): BadRequest {
  return { kind: 'bad', code, message };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isBag(value: unknown): value is Bag {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
