import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { validate } from '../../../shared/protocol/validate.ts';
import { startChild } from '../support/child.ts';
import type { Child } from '../support/child.ts';
import { indexOf, makeFolder, toolEntry } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { checkInvoke, invoke, post } from '../support/http.ts';

/** Helpers of a pack's own library know the service by these names only. */
const MODULES = {
  'library.mjs': `
    const PAUSE = Symbol.for('packgate.pause');
    const REJECTED = Symbol.for('packgate.connection-rejected');
    export const pause = (options) => ({ [PAUSE]: options });
    export const rejected = (name) => Object.assign(new Error('refused, says ' + name), { [REJECTED]: name });
  `,
  'context.mjs': `
    export default async (input, ctx) => {
      await null;
      if (input.swallow) {
        try { ctx.pause(); } catch (error) { return error.name + ': ' + error.message; }
      }
      if (input.wrap) {
        try { ctx.pause(); } catch (cause) { throw new Error('cannot wait', { cause }); }
      }
      if (input.keys) return [Object.keys(ctx), JSON.parse(JSON.stringify(ctx)), 'files' in ctx];
      if (input.drop) { ctx.pause(input.options); return 'dropped'; }
      return ctx.pause(input.options);
    };
  `,
  'helper.mjs': `
    import { pause, rejected } from './library.mjs';
    export default (input) => {
      if (input.rejected !== undefined) throw rejected(input.rejected);
      return input.nested ? { later: pause() } : pause(input.options);
    };
  `,
  'check.mjs': `
    import { pause, rejected } from './library.mjs';
    export const check = (config) => {
      if (config.rejected) throw rejected('mail');
      return pause();
    };
  `,
  'evil.mjs': `
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const throwing = Object.defineProperty(new Error('x'), 'message', { get() { throw new Error('again'); } });
    const values = {
      proxy,
      throwing,
      numbered: Object.assign(new Error('x'), { message: 5, name: {}, stack: 7 }),
      toJSON: { toJSON() { throw proxy; } },
      toJSONNumbered: { toJSON() { throw Object.assign(new Error('x'), { message: 5 }); } },
      then: { get then() { throw throwing; } },
    };
    export default ({ returns, throws }) => {
      if (throws) throw values[throws];
      return values[returns];
    };
  `,
};

const WAIT = { waitToken: { id: 'w', url: 'https://runtime.example/w' } };
const CONNECTIONS = { connections: { mail: { accessToken: 'secret-of-mail' } } };

let folder: Folder;
let child: Child;

beforeAll(async () => {
  const strict = { output: { type: 'object', required: ['answered'] } };
  folder = makeFolder({
    ...MODULES,
    'index.json': indexOf({
      tools: [
        toolEntry('acme.context', 'context.mjs', { pauses: true, needsSpec: { connections: { mail: {} } } }),
        toolEntry('acme.strict', 'context.mjs', strict),
        toolEntry('acme.helper', 'helper.mjs', { storesFiles: false, readsFiles: true }),
        toolEntry('acme.evil', 'evil.mjs'),
      ],
      guardrails: [
        { id: 'acme.check', kind: 'output', action: { 'on-violation': 'halt' }, checkModulePath: 'check.mjs' },
      ],
    }),
  });
  child = await startChild({ index: folder.file('index.json') });
});

afterAll(async () => {
  await child.stop();
  folder.remove();
});

async function answerTo(message: object): Promise<Record<string, unknown>> {
  const { status, json } = await post(child.port, message);
  expect(status).toBe(200);
  expect(validate('response', json)).toEqual([]);
  return json;
}

describe('pauses', () => {
  test('D42: a pause has the keys that were given, and the output schema is not held against it', async () => {
    expect(await answerTo(invoke('acme.strict', {}, WAIT))).toEqual({ v: 2, kind: 'pause' });
    const options = { timeoutMs: 2_073_600_000, name: 'Zustimmung', other: 1 };
    expect(await answerTo(invoke('acme.strict', { options }, WAIT))).toEqual({
      v: 2,
      kind: 'pause',
      timeoutMs: 2_073_600_000,
      name: 'Zustimmung',
    });
  });

  test('D46: a helper of the pack may make the pause; it is checked all the same', async () => {
    const options = { timeoutMs: 5, name: 'x' };
    expect(await answerTo(invoke('acme.helper', { options }, WAIT))).toEqual({ v: 2, kind: 'pause', ...options });
    for (const wrong of [{ timeoutMs: 0 }, { timeoutMs: 2_073_600_001 }, { name: 5 }, 'soon', null]) {
      expect(await answerTo(invoke('acme.helper', { options: wrong }, WAIT))).toMatchObject({
        code: 'handler-throw',
        cause: { name: 'TypeError' },
      });
    }
    expect(await answerTo(invoke('acme.helper', { options }))).toMatchObject({ code: 'pause-not-available' });
  });

  test('D43: a wrong option is thrown in the line that made the mistake, whatever the handler returns', async () => {
    const answer = await answerTo(invoke('acme.context', { drop: true, options: { timeoutMs: 1.5 } }, WAIT));
    expect(answer).toMatchObject({ code: 'handler-throw', message: expect.stringContaining('got 1.5') });
    expect((answer.cause as { stack: string }).stack).toMatch(/\(context\.mjs:\d+:\d+\)/);
  });

  test('D42: a pause that is not what the handler returns is none', async () => {
    expect(await answerTo(invoke('acme.context', { drop: true }, WAIT))).toMatchObject({ output: 'dropped' });
    expect(await answerTo(invoke('acme.helper', { nested: true }, WAIT))).toMatchObject({ output: { later: {} } });
  });

  test('D44: the error is `pause-not-available` unless the handler does something else about it', async () => {
    expect(await answerTo(invoke('acme.context', {}))).toEqual({
      v: 2,
      kind: 'error',
      code: 'pause-not-available',
      message: expect.stringMatching(/acme\.context.*wait token.*`pauses`/),
      toolId: 'acme.context',
    });
    expect(await answerTo(invoke('acme.context', { swallow: true }))).toMatchObject({
      output: expect.stringMatching(/^PauseNotAvailable: /),
    });
    expect(await answerTo(invoke('acme.context', { wrap: true }))).toMatchObject({ code: 'handler-throw' });
  });

  test('D42 C20: a call that pauses is one that went well', async () => {
    await answerTo(invoke('acme.context', {}, { ...WAIT, runId: 'paused' }));
    expect(await child.waitFor(({ runId }) => runId === 'paused')).toMatchObject({ event: 'call', outcome: 'ok' });
    expect(JSON.stringify(child.records)).not.toContain('runtime.example');
  });

  test('D46: a check cannot pause', async () => {
    expect(await answerTo(checkInvoke('acme.check'))).toMatchObject({
      code: 'output-validation-failed',
      checkId: 'acme.check',
    });
  });
});

describe('connections', () => {
  test('D47 D48: a helper of the pack may make the error; its connection must be one of the call', async () => {
    expect(await answerTo(invoke('acme.helper', { rejected: 'mail' }, CONNECTIONS))).toEqual({
      v: 2,
      kind: 'error',
      code: 'connection-rejected',
      message: expect.stringContaining('"mail"'),
      toolId: 'acme.helper',
      connection: 'mail',
    });
    for (const name of ['other', 'toString', '', 7, null]) {
      const answer = await answerTo(invoke('acme.helper', { rejected: name }, CONNECTIONS));
      expect(answer).toMatchObject({ code: 'handler-throw' });
      expect(answer).not.toHaveProperty('connection');
    }
    expect(await answerTo(invoke('acme.helper', { rejected: 'mail' }))).toMatchObject({ code: 'handler-throw' });
  });

  test('D47: a check has no connections, so it can refuse none', async () => {
    expect(await answerTo(checkInvoke('acme.check', { rejected: true }))).toMatchObject({ code: 'handler-throw' });
  });
});

test('D30 D34: what a call sends under the names of the service does not become them', async () => {
  const sent = { files: 1, log: 2, pause: 3, connectionRejected: 4, abortSignal: 5, toolFiles: 6, waitToken: 7 };
  const { output } = await answerTo(invoke('acme.context', { keys: true }, { ...sent, __proto__: { x: 1 }, more: 8 }));
  expect(output).toEqual([
    expect.arrayContaining(['tenantId', 'runId', 'more', 'abortSignal']),
    { tenantId: 'tenant-a', runId: 'run-1', more: 8, abortSignal: {} },
    false,
  ]);
});

test.each([
  ['throws', 'proxy'],
  ['throws', 'throwing'],
  ['throws', 'numbered'],
  ['returns', 'proxy'],
  ['returns', 'toJSON'],
  ['returns', 'toJSONNumbered'],
  ['returns', 'then'],
])('A8 D15 D21: a handler that %s something that bites (%s) is answered with a message', async (how, what) => {
  expect(await answerTo(invoke('acme.evil', { [how]: what }))).toMatchObject({
    kind: 'error',
    code: expect.stringMatching(/^(handler-throw|output-validation-failed)$/),
  });
});
