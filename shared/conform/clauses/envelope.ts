import assert from 'node:assert/strict';
import type { ErrorCode } from '../../protocol/codes.ts';
import { ECHO, echoBody, invoke, invokeMessage, post, tenantOf } from '../client/call.ts';
import { errorOf, outputOf } from '../client/message.ts';
import { httpClause } from '../clause.ts';
import type { Service } from '../service.ts';

const hello = { message: 'hello' };

/** Posts a message, a good one with some keys changed or (undefined) removed. */
function postChanged(service: Service, change: Readonly<Record<string, unknown>>): ReturnType<typeof post> {
  return post(service, JSON.stringify({ ...invokeMessage(service, ECHO, hello), ...change }));
}

async function isError(service: Service, code: ErrorCode, change: Readonly<Record<string, unknown>>): Promise<void> {
  const error = errorOf(await postChanged(service, change), code);
  assert.equal(error.issues, undefined, 'issues');
}

function contextOf(service: Service, change: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { ctx: { tenantId: tenantOf(service), runId: 'run-1', ...change } };
}

/** Group D: the envelope of requests. */
export const envelope = [
  httpClause('D1/not-an-object', 'a message that is no object is `malformed-message`', async (service) => {
    for (const body of ['[]', 'null', '"x"', '5', 'true', `[${echoBody(service)}]`]) {
      errorOf(await post(service, body), 'malformed-message');
    }
  }),

  httpClause('D1/version', 'a `v` that is not the number 2 is `unknown-protocol-version`', async (service) => {
    for (const v of ['2', true, null, 3, 1, 2.5, [2], undefined])
      await isError(service, 'unknown-protocol-version', { v });
    const answer = await post(service, echoBody(service).replace('"v":2', '"v":2.0'));
    assert.deepEqual(outputOf(answer), hello);
  }),

  httpClause('D1/kind', 'a kind that is no request is `unexpected-message-kind`', async (service) => {
    for (const kind of ['result', 'error', 'check-result', 'pause', 'Invoke', '', null, 7, undefined]) {
      await isError(service, 'unexpected-message-kind', { kind });
    }
  }),

  httpClause('D1/order', 'version is judged before kind, kind before the rest', async (service) => {
    await isError(service, 'unknown-protocol-version', { v: 3, kind: 'nonsense', tool: 1 });
    await isError(service, 'unexpected-message-kind', { kind: 'nonsense', tool: 1, ctx: 1 });
  }),

  httpClause('D2/extra-keys', 'keys that the service does not know are no error', async (service) => {
    const change = {
      extra: 1,
      tool: { id: ECHO, version: '1.0.0', extra: {} },
      ...contextOf(service, { newField: { a: [1] }, waitUntil: 'later' }),
    };
    assert.deepEqual(outputOf(await postChanged(service, change)), hello);
  }),

  httpClause(
    'D2/tool',
    'a call without a tool id, or with a version that is no text, is malformed',
    async (service) => {
      for (const tool of [undefined, null, 'x', [], {}, { id: '' }, { id: 7 }, { id: ECHO, version: 1 }]) {
        await isError(service, 'malformed-message', { tool });
      }
    },
  ),

  httpClause('D2/version-null', 'a tool version of null is malformed', async (service) => {
    await isError(service, 'malformed-message', { tool: { id: ECHO, version: null } });
  }),

  httpClause('D2/context', 'a context without the texts `tenantId` and `runId` is malformed', async (service) => {
    for (const ctx of [undefined, null, 'x', [], {}, { tenantId: tenantOf(service) }, { runId: 'r' }]) {
      await isError(service, 'malformed-message', { ctx });
    }
    for (const change of [{ tenantId: 7 }, { tenantId: null }, { runId: 7 }, { runId: null }]) {
      await isError(service, 'malformed-message', contextOf(service, change));
    }
  }),

  httpClause(
    'D2/unjudged-context',
    'nothing else in a context is judged, and a run id may be empty',
    async (service) => {
      for (const change of [
        { runId: '' },
        { requestId: 7, env: 'x', secrets: [], settings: null, idempotencyKey: 'no UUID' },
      ]) {
        assert.deepEqual(outputOf(await postChanged(service, contextOf(service, change))), hello);
      }
    },
  ),

  httpClause('D2/no-input', 'a missing input is judged by the schema', async (service) => {
    const message = { ...invokeMessage(service, ECHO, undefined) };
    errorOf(await post(service, JSON.stringify(message)), 'input-validation-failed', { toolId: ECHO });
  }),

  httpClause(
    'D3/no-module',
    'a tool is found by its id only, never by a module',
    async (service) => {
      for (const id of [
        'tools/echo.mjs',
        '../tools/echo',
        'echo',
        'Conformance.Echo',
        `${ECHO}@1.0.0`,
        'constructor',
        '__proto__',
        'toString',
      ]) {
        errorOf(await invoke(service, id, hello), 'tool-not-in-pack', { toolId: id });
      }
    },
    ['D13'],
  ),
];
