import assert from 'node:assert/strict';
import { ENV } from '../../process/contract.ts';
import { ECHO, get, invoke } from '../client/call.ts';
import { outputOf } from '../client/message.ts';
import { processClause } from '../clause.ts';
import type { StartOptions, Target } from '../service.ts';
import { failureOf, problemsOf, withoutOption } from './failedStart.ts';
import { serving } from './serving.ts';

const hello = { message: 'hello' };

async function bootsAndServes(target: Target, options: StartOptions): Promise<void> {
  await serving(target, options, async (service) => {
    assert.deepEqual(outputOf(await invoke(service, ECHO, hello)), hello);
  });
}

/** Group C: arguments and environment variables. */
export const configuration = [
  processClause('C1/argument-first', 'an argument beats its environment variable', async (target) => {
    await bootsAndServes(target, { env: { [ENV.index]: '/no/such/index.json' } });
  }),

  processClause('C1/from-environment', 'without `--index` the index is the one of the environment', async (target) => {
    const started = await target.start({
      env: { [ENV.index]: '/no/such/place/index.json' },
      args: (usual) => withoutOption(usual, '--index'),
    });
    try {
      const { problems } = await failureOf(started, 'boot-failed');
      assert.match(String(problems), /\/no\/such\/place\/index\.json/);
    } finally {
      await started.stop();
    }
  }),

  processClause('C1/two-words', '`--index=x` and unknown arguments are not read', async (target) => {
    await bootsAndServes(target, { args: (usual) => ['--no-such-thing', ...usual, '--index=/no/such/index.json'] });
  }),

  processClause('C1/host', 'with `--host` it listens on that address alone', async (target) => {
    await serving(target, {}, async (service) => {
      assert.equal((await get(service, '/healthz')).status, 200);
      // Every address of 127.0.0.0/8 is this machine's: who listens everywhere answers here, too.
      const elsewhere = await get({ ...service, host: '127.0.0.2' }, '/healthz').catch(() => undefined);
      assert.equal(elsewhere, undefined, 'an answer from another address');
    });
  }),

  processClause('C2/empty-host', 'an empty `--host` is `config-invalid`', async (target) => {
    await problemsOf(target, 'config-invalid', { args: (usual) => [...withoutOption(usual, '--host'), '--host', ''] });
  }),

  processClause('C2/host-without-value', '`--host` as the last word is `config-invalid`', async (target) => {
    await problemsOf(target, 'config-invalid', { args: (usual) => [...withoutOption(usual, '--host'), '--host'] });
  }),

  processClause(
    'C3/values',
    'a bad token, port, concurrency, env check or env filter is `config-invalid`, all of them in one line',
    async (target) => {
      for (const [token, port, concurrency] of [
        [null, 'abc', '0'],
        ['  ', '65536', '1.5'],
        ['my secret-token', '-1', ''],
      ] as const) {
        const problems = await problemsOf(target, 'config-invalid', {
          env: {
            [ENV.token]: token,
            [ENV.port]: port,
            [ENV.maxConcurrency]: concurrency,
            [ENV.envCheck]: 'nonsense',
            [ENV.envFilter]: 'nonsense',
          },
        });
        for (const name of [ENV.token, ENV.port, ENV.maxConcurrency, ENV.envCheck, ENV.envFilter]) {
          assert.ok(
            problems.some((problem) => problem.includes(name)),
            `${name} with ${JSON.stringify([token, port, concurrency])}`,
          );
        }
        assert.ok(!problems.join('\n').includes('secret'), 'the token is repeated');
      }
    },
    ['C4'],
  ),

  processClause('C3/port-digits', 'a port is digits only', async (target) => {
    for (const port of ['', '0x0']) await problemsOf(target, 'config-invalid', { env: { [ENV.port]: port } });
  }),

  processClause('C4/log-settings', 'a bad log setting is `config-invalid`', async (target) => {
    for (const name of [ENV.logLevel, ENV.logLevels, ENV.logFormat]) {
      const problems = await problemsOf(target, 'config-invalid', { env: { [name]: 'nonsense' } });
      assert.match(problems.join('\n'), new RegExp(name));
    }
  }),

  processClause('C5/newline', 'a token stored with a newline at its end works', async (target) => {
    const token = 'a-token-from-a-file';
    await serving(target, { env: { [ENV.token]: ` ${token}\n` } }, async (service) => {
      assert.deepEqual(outputOf(await invoke({ ...service, token }, ECHO, hello)), hello);
    });
  }),
];
