import assert from 'node:assert/strict';
import { invoke } from '../client/call.ts';
import { errorOf, objectOf, outputOf, pauseOf } from '../client/message.ts';
import type { RawResponse } from '../client/response.ts';
import { httpClause, processClause } from '../clause.ts';
import type { Service } from '../service.ts';
import { callRecord } from './lines.ts';

/** It does not say `pauses`, which the released indexers do not know: a service goes by the wait token that was sent. */
const PAUSES = 'conformance.pauses';
const WAIT_TOKEN = { id: 'w-1', url: 'https://runtime.example/waits/secret-of-the-wait' };
const DAYS_24 = 2_073_600_000;

function call(service: Service, input: object, ctx: object = { waitToken: WAIT_TOKEN }): Promise<RawResponse> {
  return invoke(service, PAUSES, input, { ctx: { ...ctx } });
}

/** Group D: calls that wait for another system. */
export const pauses = [
  httpClause(
    'D42/pause',
    'a call with a wait token may be answered with a pause, which no output schema is held against',
    async (service) => {
      assert.deepEqual(pauseOf(await call(service, {})), { v: 2, kind: 'pause' });
      const options = { timeoutMs: 90_000, name: 'Abholung bestätigt' };
      assert.deepEqual(pauseOf(await call(service, { options })), { v: 2, kind: 'pause', ...options });
    },
    ['D46'],
  ),

  httpClause('D42/result', 'a call with a wait token may be answered with a result as well', async (service) => {
    assert.deepEqual(outputOf(await call(service, { what: 'neither' })), { answered: true });
  }),

  httpClause('D6/wait-token', 'a handler gets the wait token as it was sent', async (service) => {
    const output = objectOf(outputOf(await call(service, { what: 'token' })), 'output');
    assert.deepEqual(output.token, WAIT_TOKEN);
  }),

  httpClause(
    'D43/limits',
    'a pause lasts a whole number of milliseconds, at most 24 days; its name is a text',
    async (service) => {
      for (const timeoutMs of [1, DAYS_24]) {
        assert.equal(pauseOf(await call(service, { options: { timeoutMs } })).timeoutMs, timeoutMs);
      }
      for (const options of [
        ...[0, -1, 1.5, DAYS_24 + 1, '1000', null, true].map((timeoutMs) => ({ timeoutMs })),
        { name: 7 },
        'soon',
        null,
      ]) {
        errorOf(await call(service, { options }), 'handler-throw', { toolId: PAUSES });
      }
    },
    ['D46'],
  ),

  httpClause(
    'D44/not-available',
    'without a wait token a tool that wants to pause, or reads the token, is told that it cannot',
    async (service) => {
      for (const ctx of [{}, { waitToken: null }, { waitToken: { id: 'w-1' } }]) {
        for (const what of ['pause', 'token']) {
          const error = errorOf(await call(service, { what }, ctx), 'pause-not-available', { toolId: PAUSES });
          assert.equal(error.cause, undefined, 'cause');
        }
        assert.deepEqual(outputOf(await call(service, { what: 'neither' }, ctx)), { answered: true });
      }
    },
    ['D12', 'D46'],
  ),

  processClause('D45/never-logged', 'where a wait is answered is never on stderr', async (target) => {
    const service = await target.shared();
    const runId = crypto.randomUUID();
    pauseOf(await call(service, {}, { waitToken: WAIT_TOKEN, runId }));
    const record = await service.process.line(callRecord(runId));
    assert.ok(record.type === 'event');
    assert.equal(record.fields.outcome, 'ok');
    assert.ok(!service.process.lines().join('\n').includes('secret-of-the-wait'), 'the url');
  }),
];
