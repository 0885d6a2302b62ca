import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { validate } from '../../../shared/protocol/validate.ts';
import { indexPack, packFolder, startChild, until } from '../support/child.ts';
import type { Child } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { checkInvoke, info, invoke, post } from '../support/http.ts';

let folder: Folder;
let child: Child;

beforeAll(async () => {
  folder = makeFolder();
  await indexPack(packFolder('node-calls'), folder.file('index.json'));
  child = await startChild({ index: folder.file('index.json'), moduleRoot: packFolder('node-calls') });
});

afterAll(async () => {
  await child.stop();
  folder.remove();
});

/** The message of an answer, which is checked against the published schema in every case. */
async function answerTo(message: unknown): Promise<Record<string, unknown>> {
  const { status, json } = await post(child.port, message);
  expect(status).toBe(200);
  expect(validate('response', json)).toEqual([]);
  return json;
}

describe('the envelope', () => {
  test.each([
    ['v is text', { v: '2', kind: 'invoke' }, 'unknown-protocol-version'],
    ['v is 3', { v: 3, kind: 'invoke' }, 'unknown-protocol-version'],
    ['v is missing', { kind: 'invoke' }, 'unknown-protocol-version'],
    ['kind is missing', { v: 2 }, 'unexpected-message-kind'],
    ['kind is an answer', { v: 2, kind: 'result', output: 1 }, 'unexpected-message-kind'],
    ['tool is missing', { v: 2, kind: 'invoke', ctx: { tenantId: 't', runId: 'r' } }, 'malformed-message'],
    ['tool.id is empty', invoke('', {}), 'malformed-message'],
    [
      'tool.version is null',
      { ...invoke('calls.echo'), tool: { id: 'calls.echo', version: null } },
      'malformed-message',
    ],
    ['ctx is missing', { ...invoke('calls.echo'), ctx: undefined }, 'malformed-message'],
    ['ctx.runId is a number', invoke('calls.echo', {}, { runId: 1 }), 'malformed-message'],
    ['ctx.tenantId is missing', invoke('calls.echo', {}, { tenantId: undefined }), 'malformed-message'],
    ['check.id is missing', { v: 2, kind: 'check-invoke', check: {}, config: {}, trace: {} }, 'malformed-message'],
    ['config is a list', checkInvoke('calls.verdicts', []), 'malformed-message'],
  ])('D1 D2: when %s', async (_name, message, code) => {
    const answer = await answerTo(message);
    expect(answer).toEqual({ v: 2, kind: 'error', code, message: expect.any(String) });
  });

  test('D1: 2.0 is version 2', async () => {
    const text = JSON.stringify(invoke('calls.echo', { message: 'x' })).replace('"v":2', '"v":2.0');
    expect(await answerTo(text)).toMatchObject({ kind: 'result' });
  });

  test('D2: unknown keys in the envelope and in ctx are ignored', async () => {
    const message = { ...invoke('calls.echo', { message: 'x' }, { future: { a: 1 } }), future: true };
    expect(await answerTo(message)).toEqual({ v: 2, kind: 'result', output: { message: 'x' } });
  });
});

describe('which tool', () => {
  test.each([
    ['unknown id', invoke('calls.nope'), 'tool-not-in-pack'],
    ['prototype id', invoke('__proto__'), 'tool-not-in-pack'],
    ['unknown version', invoke('calls.echo', {}, {}, '9.0.0'), 'tool-version-mismatch'],
    ['range', invoke('calls.echo', {}, {}, '^1.0.0'), 'tool-version-mismatch'],
    ['empty version', invoke('calls.echo', {}, {}, ''), 'tool-version-mismatch'],
    ['several and none named', invoke('calls.versions'), 'tool-version-mismatch'],
    ['unversioned and one named', invoke('calls.unversioned', {}, {}, '1.0.0'), 'tool-version-mismatch'],
  ])('D4 D12 D13: %s', async (_name, message, code) => {
    const { tool } = message as { tool: { id: string } };
    expect(await answerTo(message)).toMatchObject({ kind: 'error', code, toolId: tool.id });
  });

  test('D4: versions live side by side, and an unversioned tool is called without one', async () => {
    expect(await answerTo(invoke('calls.versions', {}, {}, '1.0.0'))).toMatchObject({ output: 'one' });
    expect(await answerTo(invoke('calls.versions', {}, {}, '2.0.0'))).toMatchObject({ output: 'two' });
    expect(await answerTo(invoke('calls.unversioned'))).toMatchObject({ output: 'any' });
  });

  test('F8: a Result and a CommonJS default are called like the tool they hold', async () => {
    expect(await answerTo(invoke('calls.result'))).toMatchObject({ output: 'unwrapped' });
    expect(await answerTo(invoke('calls.common'))).toMatchObject({ output: 'from CommonJS' });
  });
});

describe('input', () => {
  test('D17 D18: every issue is reported, with its path, keyword and parameters', async () => {
    const input = { extra: 1, fixed: 2, size: 1, code: 'abcd', mail: 'no', tags: ['a', 'a'], mixed: true };
    const answer = await answerTo(invoke('calls.types', input));
    expect(answer).toMatchObject({ code: 'input-validation-failed', toolId: 'calls.types' });
    const issues = answer.issues as { instancePath: string; keyword: string; schemaPath: string; params: object }[];
    const found = Object.fromEntries(
      issues.map(({ instancePath, keyword, params }) => [`${instancePath} ${keyword}`, params]),
    );
    expect(found).toEqual({
      ' required': { missingProperty: 'kind' },
      ' additionalProperties': { additionalProperty: 'extra' },
      '/fixed const': { allowedValue: 1 },
      '/size minimum': { comparison: '>=', limit: 2 },
      '/size multipleOf': { multipleOf: 2 },
      '/code pattern': { pattern: '^[A-Z]+$' },
      '/code maxLength': { limit: 3 },
      '/mail format': { format: 'email' },
      '/tags uniqueItems': { i: expect.any(Number), j: expect.any(Number) },
      '/mixed type': { type: 'string,number' },
    });
    expect(issues.every(({ schemaPath }) => schemaPath.startsWith('#/'))).toBe(true);
  });

  test('F12: unknown keywords and formats are ignored', async () => {
    expect(await answerTo(invoke('calls.types', { kind: 'a', other: 'x' }))).toMatchObject({ kind: 'result' });
  });

  test('D10 F13: missing keys get their defaults, nested and in lists; null stays', async () => {
    expect(await answerTo(invoke('calls.defaults', { list: [{}, { on: false }], empty: null }))).toMatchObject({
      output: { name: 'nobody', nested: { level: 3 }, list: [{ on: true }, { on: false }], empty: null },
    });
  });

  test('D2: a missing input is validated as nothing', async () => {
    expect(await answerTo({ ...invoke('calls.echo'), input: undefined })).toMatchObject({
      code: 'input-validation-failed',
    });
  });
});

describe('output', () => {
  test.each([
    ['undefined', null],
    ['date', { at: '1970-01-01T00:00:00.000Z' }],
    ['nan', null],
    ['members', { kept: 1 }],
    ['thenable', 'then'],
  ])('D11 D14 D15: %s arrives as JSON has it', async (what, output) => {
    expect(await answerTo(invoke('calls.return', { what }))).toEqual({ v: 2, kind: 'result', output });
  });

  test.each(['cycle', 'bigint', 'function'])('D15: %s cannot be sent', async (what) => {
    const answer = await answerTo(invoke('calls.return', { what }));
    expect(answer).toMatchObject({ code: 'output-validation-failed', toolId: 'calls.return' });
    expect(answer).not.toHaveProperty('issues');
  });

  test('D15 A32: a deeply nested output is sent', async () => {
    expect(await answerTo(invoke('calls.return', { what: 'deep' }))).toMatchObject({ kind: 'result' });
  });

  test('D8: an output that does not fit the schema of the index is refused with its issues', async () => {
    expect(await answerTo(invoke('calls.bad-output'))).toMatchObject({
      code: 'output-validation-failed',
      issues: [{ instancePath: '/message', keyword: 'type', params: { type: 'string' } }],
    });
  });
});

describe('throws', () => {
  test('D12 D21 D22: an error comes with name, message and a stack inside the pack', async () => {
    const answer = await answerTo(invoke('calls.throws', { what: 'error' }));
    expect(answer).toMatchObject({
      code: 'handler-throw',
      message: expect.stringContaining('OrderError: no such order'),
      toolId: 'calls.throws',
      cause: { name: 'OrderError', message: 'no such order' },
    });
    const { stack } = answer.cause as { stack: string };
    expect(stack).toMatch(/\n {4}at .*\(tools\/throws\.mjs:\d+:\d+\)/);
    expect(stack).not.toMatch(/file:| \/|node:internal|dist/);
  });

  test('D22: paths of the pack in a message are relative as well', async () => {
    const answer = await answerTo(invoke('calls.throws', { what: 'path' }));
    expect(JSON.stringify(answer)).not.toContain(packFolder('node-calls'));
    expect(answer.message).toContain('cannot open tools/missing.json');
  });

  test.each([
    ['text', 'just text'],
    ['undefined', null],
    ['object', { reason: 'object' }],
    ['bigint', '7'],
  ])('D21: a thrown %s is the cause as JSON can hold it', async (what, cause) => {
    expect(await answerTo(invoke('calls.throws', { what }))).toMatchObject({ code: 'handler-throw', cause });
  });
});

describe('the context', () => {
  test('D30 D34: a handler sees what was sent, the secret parts without enumerating them, and no toolFiles', async () => {
    const sent = {
      tenantId: 'tenant-a',
      runId: 'run-1',
      projectId: 'p',
      env: { A: 'b' },
      future: [1],
      secrets: { key: 's' },
      connections: { mail: { accessToken: 't' } },
      waitToken: { id: 'w', url: 'https://wait.example/1' },
      toolFiles: { url: 'https://files.example', token: 'f' },
    };
    const { output } = await answerTo(invoke('calls.context', {}, sent));
    const shown = ['tenantId', 'runId', 'projectId', 'env', 'future'];
    expect(output).toEqual({
      keys: [...shown, 'abortSignal'],
      serialised: {
        tenantId: 'tenant-a',
        runId: 'run-1',
        projectId: 'p',
        env: { A: 'b' },
        future: [1],
        abortSignal: {},
      },
      secrets: sent.secrets,
      connections: sent.connections,
      waitToken: sent.waitToken,
      hasFiles: false,
      log: ['child', 'debug', 'error', 'info', 'isLevelEnabled', 'trace', 'warn'],
      isAborted: false,
      // D11: called without `this`.
      hasThis: false,
    });
  });
});

describe('records', () => {
  test('C20 C22: every dispatched message has a call record with its ids, and nothing secret', async () => {
    const ctx = { tenantId: 'tenant-a', runId: 'recorded', requestId: 'q', projectId: '', secrets: { k: 'hush-hush' } };
    await post(child.port, invoke('calls.echo', { message: 'x' }, ctx), {
      headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
    });
    const record = await child.waitFor(({ event, runId }) => event === 'call' && runId === 'recorded');
    expect(record).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      level: 'info',
      severity: 'INFO',
      subsystem: 'pack',
      message: expect.stringContaining('calls.echo'),
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      tenantId: 'tenant-a',
      runId: 'recorded',
      requestId: 'q',
      toolId: 'calls.echo',
      packId: 'calls',
      artifactVersion: '20260101.1',
      target: 'tool',
      id: 'calls.echo',
      outcome: 'ok',
      durationMs: expect.any(Number),
      inMessage: ['target', 'id', 'outcome', 'durationMs'],
      event: 'call',
      kind: 'call',
    });
    expect(JSON.stringify(child.records)).not.toContain('hush-hush');
  });

  test('C22 A20: an unknown tool has a record, a malformed message none, a bad traceparent no trace id', async () => {
    await post(child.port, '{}');
    await post(child.port, invoke('calls.nope', {}, { runId: 'unknown' }), { headers: { traceparent: '00-xyz' } });
    const record = await child.waitFor(({ runId }) => runId === 'unknown');
    expect(record).toMatchObject({ level: 'warn', outcome: 'tool-not-in-pack' });
    expect(record).not.toHaveProperty('traceId');
    expect(child.records.filter(({ outcome }) => outcome === 'unknown-protocol-version')).toEqual([]);
  });

  test('C23 C27 C28 D32: what a handler logs is a record of pack.tool, redacted; what it prints is not in the answer', async () => {
    const answer = await answerTo(invoke('calls.log', {}, { runId: 'logging' }));
    expect(answer.output).toEqual([true, false]);
    const first = await child.waitFor(({ message, runId }) => message === 'a line' && runId === 'logging');
    expect(first).toMatchObject({
      subsystem: 'pack.tool',
      level: 'info',
      event: 'stopped',
      apiKey: '[redacted]',
      nested: { accessToken: '[redacted]' },
      toolId: 'calls.log',
      tenantId: 'tenant-a',
    });
    const second = await child.waitFor(({ step, runId }) => step === 2 && runId === 'logging');
    expect(second.message).toBe('for https://user:***@example.com and Bearer [redacted]');
    expect(child.records.some(({ message }) => message === 'not written at info')).toBe(false);
    await until('what it printed has come', () => child.stdout().includes('{"kind":"listening","port":1}'));
  });
});

describe('checks', () => {
  test('D23 D25 D26 F8: a check is called by its checkId, with config, trace and bindings', async () => {
    const answer = await answerTo(checkInvoke('calls.checks.min-length', { minLength: 3 }, { text: 'abc' }));
    expect(answer).toEqual({
      v: 2,
      kind: 'check-result',
      result: {
        passed: true,
        attributes: { config: { minLength: 3 }, bindings: ['abortSignal'], hasTrace: true },
        extra: 'kept',
      },
    });
  });

  test('D24: the config is passed as sent, without defaults', async () => {
    const answer = await answerTo(checkInvoke('calls.checks.min-length', {}, { text: '' }));
    expect(answer).toMatchObject({ result: { passed: false, attributes: { config: {} } } });
  });

  test('D20: a config that does not fit says so in the exact words', async () => {
    expect(await answerTo(checkInvoke('calls.checks.min-length', { minLength: -1 }))).toMatchObject({
      code: 'input-validation-failed',
      message: 'Check "calls.checks.min-length" config failed validation at /minLength: must be >= 0',
      checkId: 'calls.checks.min-length',
      issues: [{ keyword: 'minimum' }],
    });
  });

  test.each([
    ['yes', { passed: true }],
    ['no', { passed: false }],
  ])('D26: a bare boolean %s is a verdict', async (verdict, result) => {
    expect(await answerTo(checkInvoke('calls.verdicts', { verdict }))).toMatchObject({ kind: 'check-result', result });
  });

  test.each(['text', 'none', 'wrong', 'reason'])('D26: the verdict "%s" is none', async (verdict) => {
    expect(await answerTo(checkInvoke('calls.verdicts', { verdict }))).toMatchObject({
      code: 'output-validation-failed',
      checkId: 'calls.verdicts',
    });
  });

  test.each([
    ['a guardrail with a checkId by its own id', 'calls.min-length'],
    ['a built-in check', 'must-cite'],
    ['the guardrail of a built-in check', 'calls.cites'],
  ])('D23 D27: %s is not in the pack', async (_name, id) => {
    expect(await answerTo(checkInvoke(id))).toMatchObject({ code: 'check-not-in-pack', checkId: id });
  });

  test('D12: a check that throws', async () => {
    expect(await answerTo(checkInvoke('calls.verdicts', { verdict: 'throw' }))).toMatchObject({
      code: 'handler-throw',
      cause: { message: 'cannot judge' },
    });
  });

  test('D25: a missing trace is passed on as such', async () => {
    const message = { ...checkInvoke('calls.checks.min-length', { minLength: 0 }), trace: undefined };
    expect(await answerTo(message)).toMatchObject({ result: { passed: true, attributes: { hasTrace: false } } });
  });
});

test('D28 D29: info lists every version in index order, the checks that can be called, and the hash of the file', async () => {
  const { json } = await info(child.port);
  expect(validate('info', json)).toEqual([]);
  const tools = json.tools as { id: string; version?: string }[];
  expect(tools.filter(({ id }) => id === 'calls.versions').map(({ version }) => version)).toEqual(['1.0.0', '2.0.0']);
  expect(tools.find(({ id }) => id === 'calls.unversioned')).toEqual({ id: 'calls.unversioned' });
  expect(json).toMatchObject({
    protocol: 2,
    packId: 'calls',
    packVersion: '1.0.0',
    checks: ['calls.checks.min-length', 'calls.verdicts'],
    indexHash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    missingEnv: [],
  });
});
