import assert from 'node:assert/strict';
import { check, get, post } from '../client/call.ts';
import { errorOf, jsonOf, objectOf, verdictOf } from '../client/message.ts';
import { httpClause, processClause } from '../clause.ts';
import { NotLookedAt } from '../notLookedAt.ts';
import type { PackIndex } from '../service.ts';
import { serving } from './serving.ts';

const MIN_LENGTH = 'conformance.checks.min-length';
const THROWS = 'conformance.checks.throws';

/** Group D: checks of guardrails. */
export const checks = [
  httpClause(
    'D23/verdict',
    'a check answers whether the run passed',
    async (service) => {
      const passed = verdictOf(await check(service, MIN_LENGTH, { minLength: 3 }, { output: 'long enough' }));
      assert.equal(passed.passed, true);
      const failed = verdictOf(await check(service, MIN_LENGTH, { minLength: 30 }, { output: 'short' }));
      assert.equal(failed.passed, false);
      assert.equal(failed.reason, 'the output has 5 of 30 characters');
    },
    ['D26'],
  ),

  httpClause(
    'D23/malformed',
    'a check call without id or with a config that is no object is malformed',
    async (service) => {
      const good = { v: 2, kind: 'check-invoke', check: { id: MIN_LENGTH }, config: {}, trace: {} };
      for (const change of [
        { check: undefined },
        { check: {} },
        { check: { id: '' } },
        { check: { id: 7 } },
        { config: undefined },
        { config: null },
        { config: [] },
        { config: 'x' },
      ]) {
        errorOf(await post(service, JSON.stringify({ ...good, ...change })), 'malformed-message');
      }
    },
  ),

  httpClause(
    'D23/ids',
    "a check is reached by its own id, not by its guardrail's",
    async (service) => {
      for (const checkId of ['conformance.min-length', 'conformance.checks.nobody', 'constructor']) {
        errorOf(await check(service, checkId, {}, {}), 'check-not-in-pack', { checkId });
      }
    },
    ['D12', 'D13'],
  ),

  httpClause('D20/config', 'a config that its schema refuses is told in exact words, with issues', async (service) => {
    const negative = errorOf(await check(service, MIN_LENGTH, { minLength: -1 }, {}), 'input-validation-failed', {
      checkId: MIN_LENGTH,
    });
    const [issue] = negative.issues ?? [];
    assert.equal(issue?.keyword, 'minimum');
    assert.deepEqual(issue?.params, { comparison: '>=', limit: 0 });
    assert.equal(negative.message, `Check "${MIN_LENGTH}" config failed validation at /minLength: ${issue?.message}`);
    const extra = errorOf(await check(service, MIN_LENGTH, { more: 1 }, {}), 'input-validation-failed', {
      checkId: MIN_LENGTH,
    });
    assert.equal(extra.message, `Check "${MIN_LENGTH}" config failed validation: ${extra.issues?.[0]?.message}`);
  }),

  httpClause('D24/as-sent', 'a check gets its config as sent, without defaults', async (service) => {
    for (const config of [{}, { minLength: 2 }]) {
      const { attributes } = verdictOf(await check(service, MIN_LENGTH, config, { output: 'text' }));
      assert.deepEqual(attributes, { length: 4, config });
    }
  }),

  httpClause('D25/no-trace', 'a check without a trace runs', async (service) => {
    assert.equal(verdictOf(await check(service, MIN_LENGTH, { minLength: 0 }, undefined)).passed, true);
    assert.equal(verdictOf(await check(service, MIN_LENGTH, {}, null)).passed, false);
  }),

  httpClause(
    'D12/check-throws',
    'a check that throws is `handler-throw` with its cause',
    async (service) => {
      const error = errorOf(await check(service, THROWS, {}, {}), 'handler-throw', { checkId: THROWS });
      assert.equal(objectOf(error.cause, 'cause').message, 'check boom');
    },
    ['D21'],
  ),

  httpClause(
    'D26/bad-verdict',
    'a verdict without a boolean `passed` is `output-validation-failed`',
    async (service) => {
      const checkId = 'conformance.checks.bad-verdict';
      errorOf(await check(service, checkId, {}, {}), 'output-validation-failed', { checkId });
    },
  ),

  httpClause('D26/boolean', 'a bare boolean is a verdict', async (service) => {
    assert.deepEqual(verdictOf(await check(service, 'conformance.checks.boolean', {}, {})), { passed: true });
  }),

  processClause('D27/built-in', "a built-in check is the runtime's: not listed, not in the pack", async (target) => {
    const checkId = 'must-cite';
    await serving(target, { index: withBuiltIn(checkId) }, async (service) => {
      errorOf(await check(service, checkId, {}, {}), 'check-not-in-pack', { checkId });
      assert.deepEqual(objectOf(jsonOf(await get(service, '/v1/info')), 'info').checks, service.expectedInfo.checks);
    });
  }),
];

/** An index with one more guardrail, which only names a built-in check. */
function withBuiltIn(checkId: string): (index: PackIndex) => PackIndex {
  return (index) => {
    const [like] = index.guardrails;
    if (like === undefined) throw new NotLookedAt('the pack has no guardrail');
    const { configSchema: _schema, ...rest } = like;
    return {
      ...index,
      guardrails: [...index.guardrails, { ...rest, id: 'conformance.z', checkId, checkBuiltIn: true }],
    };
  };
}
