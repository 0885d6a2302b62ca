import assert from 'node:assert/strict';
import { ERROR_CODES } from '../../protocol/codes.ts';
import type { ErrorCode } from '../../protocol/codes.ts';
import { HEADER, JSON_TYPE } from '../../protocol/headers.ts';
import type {
  CheckResultMessage,
  ErrorMessage,
  PackResponse,
  PauseMessage,
  ResultMessage,
} from '../../protocol/messages.ts';
import { headerOf } from './response.ts';
import type { RawResponse } from './response.ts';

/** The body of a JSON answer, after what holds for all of them: its type, its length, no white space in it (A10). */
export function jsonOf(response: RawResponse): unknown {
  assert.equal(headerOf(response, 'content-type'), JSON_TYPE, 'content-type');
  assert.equal(response.framing, 'length', 'a JSON answer has a content-length');
  const text = new TextDecoder('utf-8', { fatal: true }).decode(response.body);
  const value: unknown = JSON.parse(text);
  assert.equal(text.length, JSON.stringify(value).length, 'the JSON is compact');
  return value;
}

/** The message of an invoke that reached the service: status 200, both headers, exactly the protocol's keys (D16). */
export function messageOf(response: RawResponse): PackResponse {
  assert.equal(response.status, 200, `status of a message, with ${response.body.toString().slice(0, 300)}`);
  assert.match(headerOf(response, HEADER.durationMs) ?? 'none', /^\d+$/, HEADER.durationMs);
  assert.ok(headerOf(response, HEADER.artifactVersion), HEADER.artifactVersion);
  const message = objectOf(jsonOf(response), 'message');
  assert.equal(message.v, 2, 'v');
  switch (message.kind) {
    case 'result':
      expectKeys(message, ['v', 'kind', 'output'], []);
      break;
    case 'check-result':
      expectKeys(message, ['v', 'kind', 'result'], []);
      assert.equal(typeof objectOf(message.result, 'result').passed, 'boolean', 'result.passed');
      break;
    case 'error':
      expectError(message);
      break;
    case 'pause':
      expectKeys(message, ['v', 'kind'], ['timeoutMs', 'name']);
      break;
    default:
      assert.fail(`no kind of answer: ${String(message.kind)}`);
  }
  return message as unknown as PackResponse;
}

export function outputOf(response: RawResponse): ResultMessage['output'] {
  const message = messageOf(response);
  assert.equal(message.kind, 'result', `kind of ${JSON.stringify(message).slice(0, 300)}`);
  return (message as ResultMessage).output;
}

export function verdictOf(response: RawResponse): CheckResultMessage['result'] {
  const message = messageOf(response);
  assert.equal(message.kind, 'check-result', `kind of ${JSON.stringify(message).slice(0, 300)}`);
  return (message as CheckResultMessage).result;
}

/** The pause message, which a call with a wait token may be answered with (D42). */
export function pauseOf(response: RawResponse): PauseMessage {
  const message = messageOf(response);
  assert.equal(message.kind, 'pause', `kind of ${JSON.stringify(message).slice(0, 300)}`);
  return message as PauseMessage;
}

/** The error message with this code and, of `toolId` and `checkId`, exactly those given (D12, D13). */
export function errorOf(
  response: RawResponse,
  code: ErrorCode,
  ids: { readonly toolId?: string; readonly checkId?: string } = {},
): ErrorMessage {
  const message = messageOf(response);
  assert.equal(message.kind, 'error', `kind of ${JSON.stringify(message).slice(0, 300)}`);
  const error = message as ErrorMessage;
  assert.equal(error.code, code, `code (${error.message})`);
  assert.deepEqual({ toolId: error.toolId, checkId: error.checkId }, { toolId: undefined, checkId: undefined, ...ids });
  return error;
}

/**
 * The body of an answer that is no message: an object with a text `error`, none of the message's headers (A10), and
 * `Retry-After` on a 503 and only there (A9).
 */
export function refusalOf(response: RawResponse, status: number): Readonly<Record<string, unknown>> {
  assert.equal(response.status, status, `status, with ${response.body.toString().slice(0, 300)}`);
  const body = objectOf(jsonOf(response), 'refusal');
  assert.ok(typeof body.error === 'string' && body.error !== '', 'error is a text');
  assert.equal(headerOf(response, HEADER.durationMs), undefined, HEADER.durationMs);
  assert.equal(headerOf(response, HEADER.artifactVersion), undefined, HEADER.artifactVersion);
  const retryAfter = headerOf(response, 'retry-after');
  if (status === 503) assert.match(retryAfter ?? 'none', /^[1-9]\d*$/, 'retry-after');
  else assert.equal(retryAfter, undefined, 'retry-after');
  if (status === 421) assert.equal(body.code, 'pack-tenant-mismatch', 'code');
  return body;
}

export function objectOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${what} is an object`);
  return value as Readonly<Record<string, unknown>>;
}

function expectError(message: Readonly<Record<string, unknown>>): void {
  expectKeys(message, ['v', 'kind', 'code', 'message'], ['toolId', 'checkId', 'cause', 'issues', 'connection']);
  assert.ok(
    (ERROR_CODES as readonly unknown[]).includes(message.code),
    `no code of the protocol: ${String(message.code)}`,
  );
  assert.ok(typeof message.message === 'string' && message.message !== '', 'message is a text');
  if (message.issues === undefined) return;
  assert.ok(Array.isArray(message.issues) && message.issues.length > 0, 'issues is a list');
  for (const issue of message.issues) {
    const { instancePath, message: text } = objectOf(issue, 'issue');
    assert.match(String(instancePath), /^(\/.*)?$/s, 'instancePath is a JSON pointer');
    assert.ok(typeof text === 'string' && text !== '', "an issue's message is a text");
  }
}

function expectKeys(
  value: Readonly<Record<string, unknown>>,
  required: readonly string[],
  optional: readonly string[],
): void {
  for (const key of required) assert.ok(Object.hasOwn(value, key), `"${key}" is missing`);
  const known = new Set([...required, ...optional]);
  for (const key of Object.keys(value)) assert.ok(known.has(key), `"${key}" does not belong in a message`);
}
