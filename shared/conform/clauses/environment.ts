import assert from 'node:assert/strict';
import { ENV } from '../../process/contract.ts';
import { ECHO, get, invoke, post } from '../client/call.ts';
import { jsonOf, objectOf, outputOf, refusalOf } from '../client/message.ts';
import { processClause } from '../clause.ts';
import type { PackIndex, RunningService } from '../service.ts';
import { eventOf, eventsOf } from './lines.ts';
import { serving } from './serving.ts';

/** Names of each family that is kept though no pack declares them (C8). */
const KEPT = [
  'NODE_ENV',
  'HTTPS_PROXY',
  'SSL_CERT_FILE',
  'K_SERVICE',
  'AWS_REGION',
  'LC_TEST',
  'PYTHON_TEST',
  'OTEL_TEST',
  'CLOUD_RUN_TEST',
  'CONTAINER_APP_TEST',
  'KINDGI_TEST',
];
const DROPPED = ['AWS_SECRET_ACCESS_KEY', 'GOOGLE_APPLICATION_CREDENTIALS', 'PACK_TEST', 'ZZZ_TEST'];
const VALUE = 'a-value-that-no-log-may-show';

const needs =
  (required: readonly string[], optional: readonly string[] = []) =>
  (index: PackIndex): PackIndex => ({
    ...index,
    env: { optional, required },
  });

async function namesIn(service: RunningService): Promise<{ names: readonly string[]; inherited: readonly string[] }> {
  const output = outputOf(await invoke(service, 'conformance.process-env', {}));
  return output as unknown as { names: readonly string[]; inherited: readonly string[] };
}

/** Group C: what of its environment a pack sees, and what it needs. */
export const environment = [
  processClause(
    'C6/token-gone',
    'pack code finds no token in its environment, nor does a process it starts',
    async (target) => {
      const { names, inherited } = await namesIn(await target.shared());
      assert.ok(!names.includes(ENV.token), 'in its own environment');
      assert.ok(!inherited.includes(ENV.token), 'in that of a process it starts');
      assert.ok(names.includes('PATH') && inherited.includes('PATH'), 'the environment is not empty');
    },
  ),

  processClause(
    'C8/filter',
    'variables that the pack does not declare are dropped, but for the kept ones',
    async (target) => {
      const env = Object.fromEntries([...KEPT, ...DROPPED, 'NEEDED', 'WANTED'].map((name) => [name, VALUE]));
      await serving(
        target,
        { env: { ...env, NODE_ENV: 'test' }, index: needs(['NEEDED'], ['WANTED']) },
        async (service) => {
          const { names, inherited } = await namesIn(service);
          for (const name of [...KEPT, 'NEEDED', 'WANTED']) {
            assert.ok(names.includes(name), `${name} is kept`);
            assert.ok(inherited.includes(name), `${name} is inherited`);
          }
          for (const name of DROPPED)
            assert.ok(!names.includes(name) && !inherited.includes(name), `${name} is dropped`);
        },
      );
    },
  ),

  processClause('C9/dropped-names', 'dropped names are told once, sorted, and never a value', async (target) => {
    await serving(
      target,
      { env: Object.fromEntries([...DROPPED].reverse().map((name) => [name, VALUE])) },
      async (service) => {
        const events = eventsOf(service.process, 'env-dropped');
        assert.equal(events.length, 1);
        assert.deepEqual(events[0]?.names, [...DROPPED].sort());
        assert.equal(events[0]?.level, 'warn');
        assert.ok(!service.process.lines().join('\n').includes(VALUE), 'a value is shown');
      },
    );
  }),

  processClause('C8/filter-off', 'with the filter off everything stays, and nothing is told', async (target) => {
    const env = { PACK_TEST: VALUE, [ENV.envFilter]: 'off' };
    await serving(target, { env }, async (service) => {
      assert.ok((await namesIn(service)).names.includes('PACK_TEST'));
      assert.deepEqual(eventsOf(service.process, 'env-dropped'), []);
    });
  }),

  processClause(
    'C17/strict',
    'a required name without a value makes calls and readiness 503 and lists the names',
    async (target) => {
      await serving(
        target,
        { index: needs(['ALPHA', 'BETA', 'GAMMA']), env: { BETA: '', GAMMA: 'set' } },
        async (service) => {
          const missingEnv = ['ALPHA', 'BETA'];
          const { check, names, level } = await eventOf(service.process, 'missing-env');
          assert.deepEqual({ check, names, level }, { check: 'strict', names: missingEnv, level: 'warn' });
          const call = refusalOf(await invoke(service, ECHO, { message: 'hello' }), 503);
          const ready = refusalOf(await get(service, '/readyz'), 503);
          const early = refusalOf(await post(service, 'x', { headers: { 'content-type': 'text/plain' } }), 503);
          for (const body of [call, ready, early]) {
            assert.deepEqual([body.error, body.missingEnv], ['missing env', missingEnv]);
          }
          assert.equal((await get(service, '/healthz')).status, 200);
          const info = await get(service, '/v1/info');
          assert.equal(info.status, 200);
          assert.deepEqual(objectOf(jsonOf(info), 'info').missingEnv, missingEnv);
        },
      );
    },
    ['A3', 'A9', 'A2'],
  ),

  processClause(
    'C17/warn',
    'with env check `warn` it serves all the same, and info lists the names',
    async (target) => {
      await serving(target, { index: needs(['ALPHA']), env: { [ENV.envCheck]: 'warn' } }, async (service) => {
        assert.deepEqual(outputOf(await invoke(service, ECHO, { message: 'hello' })), { message: 'hello' });
        assert.equal((await get(service, '/readyz')).status, 200);
        assert.deepEqual(objectOf(jsonOf(await get(service, '/v1/info')), 'info').missingEnv, ['ALPHA']);
        assert.equal((await eventOf(service.process, 'missing-env')).check, 'warn');
      });
    },
  ),

  processClause('C17/blank', 'a blank is a value, and an empty switch means the default', async (target) => {
    const env = { ALPHA: ' ', [ENV.envCheck]: '', [ENV.envFilter]: '' };
    await serving(target, { index: needs(['ALPHA']), env }, async (service) => {
      assert.equal((await get(service, '/readyz')).status, 200);
      assert.deepEqual(objectOf(jsonOf(await get(service, '/v1/info')), 'info').missingEnv, []);
      assert.deepEqual(eventsOf(service.process, 'missing-env'), []);
    });
  }),
];
