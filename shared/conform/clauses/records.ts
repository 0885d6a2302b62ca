import assert from 'node:assert/strict';
import { ENV } from '../../process/contract.ts';
import { classifyLine } from '../../process/records.ts';
import { HEADER } from '../../protocol/headers.ts';
import { ECHO, check, invoke, post } from '../client/call.ts';
import { outputOf } from '../client/message.ts';
import { processClause } from '../clause.ts';
import type { RunningService } from '../service.ts';
import { callRecord, eventOf, eventsOf } from './lines.ts';
import type { Fields } from './lines.ts';
import { serving } from './serving.ts';

const hello = { message: 'hello' };
const ISO_MS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The record of a call of the echo tool made with these options. */
async function recordOf(
  service: RunningService,
  options: { toolId?: string; input?: unknown; headers?: Record<string, string>; ctx?: Record<string, unknown> } = {},
): Promise<Fields> {
  const runId = crypto.randomUUID();
  await invoke(service, options.toolId ?? ECHO, options.input ?? hello, {
    ctx: { ...options.ctx, runId },
    ...(options.headers && { headers: options.headers }),
  });
  const line = await service.process.line(callRecord(runId));
  return line.type === 'event' ? line.fields : assert.fail();
}

/** Group C: the lines on stderr. */
export const records = [
  processClause(
    'C18/record',
    "the service's own lines are records: time, level, severity, subsystem, message, event",
    async (target) => {
      const service = await target.shared();
      for (const fields of [await eventOf(service.process, 'listening'), await recordOf(service)]) {
        assert.match(String(fields.time), ISO_MS);
        assert.equal(fields.level, 'info');
        assert.equal(fields.severity, 'INFO');
        assert.equal(fields.subsystem, 'pack');
        assert.ok(typeof fields.message === 'string' && fields.message !== '');
      }
    },
  ),

  processClause('C19/kind', 'its records carry the name of the event as `event` and as `kind`', async (target) => {
    const service = await target.shared();
    const listening = await eventOf(service.process, 'listening');
    assert.deepEqual([listening.event, listening.kind], ['listening', 'listening']);
    const call = await recordOf(service);
    assert.deepEqual([call.event, call.kind], ['call', 'call']);
  }),

  processClause('C20/call', 'a call record names target, ids, outcome and time, and the pack', async (target) => {
    const service = await target.shared();
    const ctx = { projectId: 'p-1', orgId: 'o-1', requestId: 'call_1' };
    const record = await recordOf(service, { ctx });
    const { expectedInfo } = service;
    assert.deepEqual(
      ['target', 'id', 'toolId', 'outcome', 'packId', 'artifactVersion'].map((key) => record[key]),
      ['tool', ECHO, ECHO, 'ok', expectedInfo.packId, expectedInfo.artifactVersion],
    );
    assert.ok(Number.isInteger(record.durationMs) && Number(record.durationMs) >= 0, 'durationMs');
    assert.equal(String(record.tenantId).toLowerCase(), String(service.tenantId).toLowerCase());
    assert.deepEqual([record.projectId, record.orgId, record.requestId], ['p-1', 'o-1', 'call_1']);
    for (const key of ['projectId', 'orgId', 'requestId']) {
      assert.ok(!Object.hasOwn(await recordOf(service, { ctx: { [key]: '' } }), key), `an empty ${key} is left out`);
    }
  }),

  processClause('C20/failed-call', 'a call that fails is a `warn` record with its code', async (target) => {
    const service = await target.shared();
    const record = await recordOf(service, { toolId: 'conformance.throws', input: {} });
    assert.deepEqual([record.level, record.severity, record.outcome], ['warn', 'WARNING', 'handler-throw']);
  }),

  processClause(
    'A20/trace',
    'with a `traceparent` the record carries its trace and a span of its own, else neither',
    async (target) => {
      const service = await target.shared();
      const traceId = '0af7651916cd43dd8448eb211c80319c';
      const spanId = 'b7ad6b7169203331';
      const traced = await recordOf(service, { headers: { [HEADER.traceparent]: `00-${traceId}-${spanId}-01` } });
      assert.equal(traced.traceId, traceId);
      assert.match(String(traced.spanId), /^[0-9a-f]{16}$/);
      assert.notEqual(traced.spanId, spanId);
      for (const traceparent of [
        'garbage',
        `00-${'0'.repeat(32)}-${spanId}-01`,
        `00-${traceId}-${'0'.repeat(16)}-01`,
      ]) {
        const record = await recordOf(service, { headers: { [HEADER.traceparent]: traceparent } });
        assert.ok(!Object.hasOwn(record, 'traceId') && !Object.hasOwn(record, 'spanId'), traceparent);
      }
      assert.ok(!Object.hasOwn(await recordOf(service), 'traceId'));
    },
    ['C20'],
  ),

  processClause(
    'C20/any-level',
    '`listening`, `draining` and `stopped` are written at any level, calls are not',
    async (target) => {
      await serving(target, { env: { [ENV.logLevel]: 'error', UNDECLARED: 'x' } }, async (service) => {
        await invoke(service, 'conformance.throws', {});
        service.process.signal('SIGTERM');
        assert.deepEqual(await service.process.exit, { code: 0, signal: null });
        for (const event of ['listening', 'draining', 'stopped'] as const) {
          assert.equal(eventsOf(service.process, event).length, 1, event);
        }
        assert.deepEqual(eventsOf(service.process, 'call'), []);
        assert.deepEqual(eventsOf(service.process, 'env-dropped'), []);
      });
    },
  ),

  processClause(
    'C22/dispatched',
    'unknown tools, failed validation and checks have a call record as well',
    async (target) => {
      const service = await target.shared();
      assert.equal((await recordOf(service, { toolId: 'conformance.nobody' })).outcome, 'tool-not-in-pack');
      assert.equal((await recordOf(service, { input: {} })).outcome, 'input-validation-failed');
      const id = `conformance.checks.${crypto.randomUUID()}`;
      await check(service, id, {}, {});
      const line = await service.process.line(
        (candidate) => candidate.type === 'event' && candidate.event === 'call' && candidate.fields.checkId === id,
      );
      assert.ok(line.type === 'event');
      assert.deepEqual([line.fields.target, line.fields.outcome], ['check', 'check-not-in-pack']);
    },
  ),

  processClause('C22/not-dispatched', 'refusals and malformed messages have none', async (target) => {
    await serving(target, {}, async (service) => {
      await post(service, '{');
      await post(service, '{"v":2,"kind":"invoke"}');
      await post(service, 'x', { headers: { 'content-type': 'text/plain' } });
      await post(service, 'x', { headers: { [HEADER.token]: null } });
      await recordOf(service);
      assert.equal(eventsOf(service.process, 'call').length, 1);
    });
  }),

  processClause(
    'C23/handler-log',
    "a handler's log lines are records of `pack.tool`, whatever event they claim",
    async (target) => {
      const { line, runId } = await noisyRecord(await target.shared());
      assert.equal(line.subsystem, 'pack.tool');
      assert.equal(line.level, 'info');
      assert.equal(line.colour, 'blue');
      assert.equal(line.runId, runId);
      assert.equal(line.toolId, 'conformance.noisy');
    },
    ['D32'],
  ),

  processClause(
    'D32/levels',
    'a handler logs at five levels, of which those below the log level are not written and not enabled',
    async (target) => {
      await serving(target, { env: { [ENV.logLevels]: 'pack.tool=debug' } }, async (service) => {
        const runId = crypto.randomUUID();
        const answer = await invoke(service, 'conformance.logs', {}, { ctx: { runId } });
        assert.deepEqual(outputOf(answer), ['error', 'warn', 'info', 'debug']);
        const lines = await recordsOf(service, runId);
        assert.deepEqual(
          lines.map(({ level }) => level),
          ['error', 'warn', 'info', 'debug', 'info'],
        );
        assert.deepEqual(
          lines.map(({ severity }) => severity),
          ['ERROR', 'WARNING', 'INFO', 'DEBUG', 'INFO'],
        );
      });
    },
    ['C3', 'C18', 'C23'],
  ),

  processClause(
    'D32/child',
    "a child log adds its fields to the call's own, and keeps what its parent added",
    async (target) => {
      const service = await target.shared();
      const runId = crypto.randomUUID();
      const ctx = { runId, requestId: 'call_7', projectId: 'p-1', orgId: 'o-1' };
      const traceId = '0af7651916cd43dd8448eb211c80319c';
      const headers = { [HEADER.traceparent]: `00-${traceId}-b7ad6b7169203331-01` };
      await invoke(service, 'conformance.logs', {}, { ctx, headers });
      const last = (await recordsOf(service, runId)).at(-1);
      assert.ok(last, 'the record of the child log is there');
      const expected = { ...ctx, part: 'inner', step: 2, colour: 'red', toolId: 'conformance.logs', traceId };
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, last[key]])), expected);
    },
    ['A20'],
  ),

  processClause('C26/pretty', 'log format `pretty` is for people, `auto` on a pipe is JSON', async (target) => {
    await serving(target, { env: { [ENV.logFormat]: 'auto' } }, async (service) => {
      assert.equal(eventsOf(service.process, 'listening').length, 1);
    });
    const pretty = await target.start({ env: { [ENV.logFormat]: 'pretty' } });
    try {
      await pretty.line((line) => line.type === 'output' && /listening/i.test(line.text));
      assert.deepEqual(eventsOf(pretty, 'listening'), []);
    } finally {
      await pretty.stop();
    }
  }),

  processClause('C27/redacted', 'what a handler logs under a name of a secret is replaced', async (target) => {
    const service = await target.shared();
    const { line } = await noisyRecord(service);
    assert.ok(Object.hasOwn(line, 'apiKey'), 'the field is there');
    assert.ok(!service.process.lines().join('\n').includes('noisy-credential'), 'the value is shown');
  }),

  processClause('C28/printed', 'what a handler prints is on the stream and never in the answer', async (target) => {
    const service = await target.shared();
    const runId = crypto.randomUUID();
    const answer = await invoke(service, 'conformance.noisy', {}, { ctx: { runId } });
    assert.deepEqual(outputOf(answer), { lines: 4 });
    await service.process.line((line) => line.type === 'output' && line.text === `noisy ${runId}`);
    assert.deepEqual(outputOf(await invoke(service, ECHO, hello)), hello, 'it serves on');
  }),
];

/** The record that the noisy tool logs, found by the run it was called for. */
async function noisyRecord(service: RunningService): Promise<{ line: Fields; runId: string }> {
  const runId = crypto.randomUUID();
  outputOf(await invoke(service, 'conformance.noisy', {}, { ctx: { runId } }));
  const [line] = await recordsOf(service, runId);
  return line === undefined ? assert.fail('the record of the handler is missing') : { line, runId };
}

/** What the handler of this run logged, once its call has ended. */
async function recordsOf(service: RunningService, runId: string): Promise<Fields[]> {
  await service.process.line(callRecord(runId));
  return service.process
    .lines()
    .map(classifyLine)
    .flatMap((line) => (line.type === 'record' && line.fields.runId === runId ? [line.fields] : []));
}
