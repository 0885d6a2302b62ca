import { HEADER } from '../../../shared/protocol/headers.ts';
import type { JsonObject } from '../../../shared/protocol/messages.ts';
import { INVOKE_EXIT } from './exitCodes.ts';
import { isObject } from './input.ts';
import type { Exchange } from './request.ts';

/** An answer as far as it could be understood. */
export type Outcome =
  /** The pack, or the service about the call: `message` is one of the protocol's responses (D.5, D.7). */
  | {
      readonly kind: 'result' | 'check-result' | 'pause' | 'error';
      readonly message: JsonObject;
      readonly facts: AnswerFacts;
    }
  /** A status that is no 200, of the gateway or the service. */
  | {
      readonly kind: 'refused' | 'not-now' | 'broken';
      readonly status: number;
      readonly code: string | undefined;
      readonly text: string;
      readonly retryAfter: string | undefined;
    }
  /** What answered cannot be a gateway. */
  | { readonly kind: 'stranger'; readonly status: number }
  | { readonly kind: 'lost'; readonly why: string };

export interface AnswerFacts {
  /** As the service measured it; undefined where it said nothing. */
  readonly durationMs: string | undefined;
  readonly artifactVersion: string | undefined;
}

export function outcomeOf({ status, headers, body }: Exchange & { kind: 'answer' }): Outcome {
  const data = parse(body);
  if (status === 200) {
    const message = data !== undefined && isResponse(data) ? data : undefined;
    if (message === undefined) return { kind: 'lost', why: 'the answer is no message of the protocol' };
    const facts = {
      durationMs: text(headers[HEADER.durationMs]),
      artifactVersion: text(headers[HEADER.artifactVersion]),
    };
    return { kind: message.kind as 'result', message, facts };
  }
  const error = text(data?.error);
  // A service's own 500 may be plain text (A13), and one of something in between anything.
  const kind = status === 503 ? 'not-now' : status >= 500 ? 'broken' : 'refused';
  if (kind === 'refused' && (status < 400 || error === undefined)) return { kind: 'stranger', status };
  return { kind, status, code: text(data?.code), text: error ?? '', retryAfter: text(headers['retry-after']) };
}

export function exitCodeOf(outcome: Outcome): number {
  switch (outcome.kind) {
    case 'result':
      return INVOKE_EXIT.ok;
    case 'check-result':
      return hasPassed(outcome.message) ? INVOKE_EXIT.ok : INVOKE_EXIT.failed;
    case 'error':
      return INVOKE_EXIT.failed;
    case 'pause':
      return INVOKE_EXIT.paused;
    case 'refused':
      return INVOKE_EXIT.refused;
    case 'not-now':
      return INVOKE_EXIT.notNow;
    case 'broken':
    case 'lost':
      return INVOKE_EXIT.mayHaveRun;
    case 'stranger':
      return INVOKE_EXIT.unreachable;
  }
}

/** Whether the check of a check-result passed. */
export function hasPassed({ result }: JsonObject): boolean {
  return isObject(result) && result.passed === true;
}

/** What a response has to have to be one (D14, D16, D26, D42). */
const RESPONSES: Readonly<Record<string, (data: JsonObject) => boolean>> = {
  result: (data) => 'output' in data,
  'check-result': ({ result }) => isObject(result) && typeof result.passed === 'boolean',
  error: ({ code }) => typeof code === 'string',
  pause: () => true,
};

function isResponse(data: JsonObject): boolean {
  const kind = text(data.kind) ?? '';
  return Object.hasOwn(RESPONSES, kind) && RESPONSES[kind]?.(data) === true;
}

function parse(body: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
