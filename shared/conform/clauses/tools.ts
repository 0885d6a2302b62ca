import assert from 'node:assert/strict';
import { ECHO, HOLD, check, invoke } from '../client/call.ts';
import { errorOf, objectOf, outputOf } from '../client/message.ts';
import { httpClause, processClause } from '../clause.ts';
import { NotLookedAt } from '../notLookedAt.ts';
import { needModule, withEntry } from '../packNeeds.ts';
import type { IndexEntry, PackIndex } from '../service.ts';
import { serving } from './serving.ts';

const VERSIONED = 'conformance.versioned';
const THROWS = 'conformance.throws';
const BAD_OUTPUT = 'conformance.bad-output';
const DEFAULTS = 'conformance.defaults';
/** A tool whose module has no schema but the index's: no model of its own refuses what a changed index allows. */
const KEYWORDS = 'conformance.keywords';

/** Group D: finding and running a tool. */
export const tools = [
  httpClause('D4/version', 'a version that is named is the one that runs', async (service) => {
    for (const version of ['1.0.0', '2.0.0']) {
      assert.equal(outputOf(await invoke(service, VERSIONED, {}, { version })), version);
    }
    assert.deepEqual(outputOf(await invoke(service, ECHO, { message: 'x' }, { version: '1.0.0' })), { message: 'x' });
  }),

  httpClause('D4/exact', 'a version is exact, never a range', async (service) => {
    for (const version of ['1.0.1', '^1.0.0', '1', '1.0', '*', 'latest', 'v1.0.0', '', ' 1.0.0']) {
      errorOf(await invoke(service, ECHO, { message: 'x' }, { version }), 'tool-version-mismatch', { toolId: ECHO });
    }
  }),

  httpClause('D4/none-named', 'without a version the only one runs; of several none does', async (service) => {
    assert.deepEqual(outputOf(await invoke(service, ECHO, { message: 'x' })), { message: 'x' });
    errorOf(await invoke(service, VERSIONED, {}), 'tool-version-mismatch', { toolId: VERSIONED });
  }),

  processClause('D4/unversioned', 'a tool without a version is reached only without naming one', async (target) => {
    await serving(target, { index: withTool(ECHO, ({ version: _version, ...entry }) => entry) }, async (service) => {
      assert.deepEqual(outputOf(await invoke(service, ECHO, { message: 'x' })), { message: 'x' });
      const named = await invoke(service, ECHO, { message: 'x' }, { version: '1.0.0' });
      errorOf(named, 'tool-version-mismatch', { toolId: ECHO });
    });
  }),

  httpClause(
    'D8/input',
    'an input that its schema refuses does not run',
    async (service) => {
      for (const input of [{}, { message: '' }, { message: 7 }, { message: 'x', more: 1 }, [], null, 'x', 7]) {
        const error = errorOf(await invoke(service, ECHO, input), 'input-validation-failed', { toolId: ECHO });
        assert.ok(error.issues?.length, `issues of ${JSON.stringify(input)}`);
      }
    },
    ['D12'],
  ),

  httpClause(
    'D8/output',
    'a return value that its schema refuses is no result',
    async (service) => {
      const error = errorOf(await invoke(service, BAD_OUTPUT, {}), 'output-validation-failed', { toolId: BAD_OUTPUT });
      assert.deepEqual(
        error.issues?.map(({ instancePath, keyword, params }) => ({ instancePath, keyword, params })),
        [{ instancePath: '', keyword: 'type', params: { type: 'string' } }],
      );
    },
    ['D12', 'D18'],
  ),

  processClause('D8/index-schema', 'the schemas of the index count, not those of the module', async (target) => {
    const input = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
    const change = (output: object) => withTool(KEYWORDS, (entry) => ({ ...entry, input, output }));
    await serving(target, { index: change({ type: 'boolean' }) }, async (service) => {
      errorOf(await invoke(service, KEYWORDS, { needed: 'x' }), 'input-validation-failed', { toolId: KEYWORDS });
      assert.equal(outputOf(await invoke(service, KEYWORDS, { word: 'x' })), true);
    });
    await serving(target, { index: change({ type: 'string' }) }, async (service) => {
      errorOf(await invoke(service, KEYWORDS, { word: 'x' }), 'output-validation-failed', { toolId: KEYWORDS });
    });
  }),

  processClause('D9/order', 'a bad input is told before a module without a handler', async (target) => {
    await serving(
      target,
      {
        index: withTool(HOLD, (entry) => ({ ...entry, modulePath: needModule(target, 'noHandler') })),
      },
      async (service) => {
        errorOf(await invoke(service, HOLD, {}), 'input-validation-failed', { toolId: HOLD });
      },
    );
  }),

  processClause(
    'D12/no-handler',
    'a module without a handler is `handler-shape-invalid`, without a check `check-shape-invalid`',
    async (target) => {
      const noHandler = needModule(target, 'noHandler');
      const guardrail = 'conformance.boolean';
      const checkId = 'conformance.checks.boolean';
      await serving(
        target,
        {
          index: (index) =>
            withEntry(
              withEntry(index, 'tools', HOLD, (entry) => ({ ...entry, modulePath: noHandler })),
              'guardrails',
              guardrail,
              (entry) => ({ ...entry, checkModulePath: noHandler }),
            ),
        },
        async (service) => {
          errorOf(await invoke(service, HOLD, { release: '/' }), 'handler-shape-invalid', { toolId: HOLD });
          errorOf(await check(service, checkId, {}, {}), 'check-shape-invalid', { checkId });
        },
      );
    },
  ),

  httpClause(
    'D10/defaults',
    'the handler gets the defaults of its schema, at every level, for missing keys only',
    async (service) => {
      const cases = [
        [{}, { tone: 'plain' }],
        [{ tone: 'loud' }, { tone: 'loud' }],
        [{ limits: {} }, { tone: 'plain', limits: { words: 100 } }],
        [{ limits: { words: 0, lines: 3 } }, { tone: 'plain', limits: { words: 0, lines: 3 } }],
        [{ parts: [{}, { weight: 5 }] }, { tone: 'plain', parts: [{ weight: 1 }, { weight: 5 }] }],
      ] as const;
      for (const [input, output] of cases) assert.deepEqual(outputOf(await invoke(service, DEFAULTS, input)), output);
    },
    ['F13'],
  ),

  httpClause(
    'D10/null-stays',
    'a null is not filled with a default',
    async (service) => {
      errorOf(await invoke(service, DEFAULTS, { tone: null }), 'input-validation-failed', { toolId: DEFAULTS });
    },
    ['F13'],
  ),

  httpClause(
    'D12/handler-throw',
    'a handler that throws is `handler-throw` with its cause',
    async (service) => {
      const error = errorOf(await invoke(service, THROWS, {}), 'handler-throw', { toolId: THROWS });
      const cause = objectOf(error.cause, 'cause');
      assert.deepEqual(Object.keys(cause).sort(), ['message', 'name', 'stack']);
      assert.equal(cause.message, 'boom');
      assert.ok(typeof cause.name === 'string' && cause.name !== '', 'name');
      assert.ok(typeof cause.stack === 'string' && cause.stack.includes('boom'), 'stack');
      assert.ok(error.message.includes(`${cause.name}: boom`), error.message);
    },
    ['D21'],
  ),

  httpClause('D22/no-paths', 'a stack does not show where the pack lies on the machine', async (service) => {
    if (service.packDir === undefined) throw new NotLookedAt('it is not known where the pack lies');
    const answer = await invoke(service, THROWS, {});
    errorOf(answer, 'handler-throw', { toolId: THROWS });
    assert.ok(!answer.body.includes(service.packDir), 'the folder of the pack is shown');
  }),

  httpClause(
    'D13/ids',
    'an unknown tool is `tool-not-in-pack` with the id that was asked for',
    async (service) => {
      for (const toolId of ['conformance.nobody', 'ünbekannt', 'x'.repeat(300), 'a/../b']) {
        errorOf(await invoke(service, toolId, {}), 'tool-not-in-pack', { toolId });
        errorOf(await invoke(service, toolId, {}, { version: '1.0.0' }), 'tool-not-in-pack', { toolId });
      }
    },
    ['D12'],
  ),

  httpClause('D14/nothing', 'a handler that returns nothing gives null', async (service) => {
    assert.equal(outputOf(await invoke(service, 'conformance.nothing', {})), null);
  }),

  httpClause(
    'D15/not-json',
    'a return value that JSON cannot hold is `output-validation-failed` without issues',
    async (service) => {
      const toolId = 'conformance.cyclic';
      const error = errorOf(await invoke(service, toolId, {}), 'output-validation-failed', { toolId });
      assert.equal(error.issues, undefined);
    },
    ['A8'],
  ),

  processClause(
    'D8/lenient',
    'a schema with unknown keywords and formats runs',
    async (target) => {
      const input = {
        type: 'object',
        properties: { word: { minLength: 1, format: 'of-our-own' } },
        required: ['word', 'undeclared'],
        'x-vendor': true,
        note: 'no keyword of the draft',
      };
      await serving(target, { index: withTool(KEYWORDS, (entry) => ({ ...entry, input })) }, async (service) => {
        assert.equal(outputOf(await invoke(service, KEYWORDS, { word: 'x', undeclared: 1 })), true);
      });
    },
    ['F12'],
  ),
];

/** An index with one tool's entry changed. */
function withTool(id: string, change: (entry: IndexEntry) => IndexEntry): (index: PackIndex) => PackIndex {
  return (index) => withEntry(index, 'tools', id, change);
}
