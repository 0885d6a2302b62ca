// A pack that crashes costs its own callers only, waits its delay, and comes back; an idle one stops and starts again.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { expectMayHaveRun, expectRan, expectTryAgain } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';

it('a pack that crashes again and again cools down, answers 503 meanwhile, and is back after its delay', async () => {
  const { gateway, stubs } = await hostStubs({ a: { settings: { restart: { min: '700ms', max: '700ms' } } } });
  const crash = async (count: number): Promise<void> => {
    expectMayHaveRun(await stubs.a.invoke({ input: { act: 'die' } }));
    await until('the gateway has seen the death', () => {
      return gateway.records.filter(({ event }) => event === 'instance-exited').length === count;
    });
  };
  await crash(1);
  // The first crash costs no delay, the second does.
  await crash(2);
  expectTryAgain(await stubs.a.invoke(), 'cooling');
  expect(stubs.a.starts()).toHaveLength(2);
  const back = await until('the pack is back', async () => {
    const answer = await stubs.a.invoke();
    if (answer.status === 503) expectTryAgain(answer, 'cooling');
    return answer.status === 200 && answer;
  });
  expect(expectRan(back).start).toBe(3);
});

it('a start that failed is tried again after its delay, and only then', async () => {
  const behaviour = { starts: { 1: { bootFailure: { problems: ['not yet'] } } } };
  const { gateway, stubs } = await hostStubs({
    a: { behaviour, settings: { restart: { min: '700ms', max: '700ms' } } },
  });
  expectTryAgain(await stubs.a.invoke());
  expectTryAgain(await stubs.a.invoke(), 'cooling');
  expect(stubs.a.starts()).toHaveLength(1);
  const failure = await gateway.waitForRecord((record) => record.event === 'start-failed');
  expect(failure.problems).toEqual(['not yet']);
  await until('the pack serves', async () => (await stubs.a.invoke()).status === 200);
  expect(stubs.a.starts()).toHaveLength(2);
});

it('a crash of one tenant’s child leaves another’s call in flight alone', async () => {
  const { stubs } = await hostStubs({ a: {}, b: {} });
  const requestId = randomUUID();
  const long = stubs.b.invoke({ requestId, input: { act: 'sleep', ms: 1_000 } });
  await until('the long call runs', () => stubs.b.ranIds().includes(requestId));
  expectMayHaveRun(await stubs.a.invoke({ input: { act: 'die' } }));
  expectRan(await long);
  expect(stubs.b.starts()).toHaveLength(1);
});

it('all calls in flight of a child that dies are 500, each ran once', async () => {
  const { stubs } = await hostStubs({ a: {} });
  expectRan(await stubs.a.invoke());
  const requestIds = Array.from({ length: 10 }, () => randomUUID());
  const calls = requestIds.map((requestId) => stubs.a.invoke({ requestId, input: { act: 'sleep', ms: 20_000 } }));
  await until('all of them run', () => requestIds.every((id) => stubs.a.ranIds().includes(id)));
  process.kill(stubs.a.starts()[0]?.pid ?? 0, 'SIGKILL');
  for (const answer of await Promise.all(calls)) expectMayHaveRun(answer);
  expectRan(await stubs.a.invoke());
  for (const id of requestIds) expect(stubs.a.ranIds().filter((ran) => ran === id)).toHaveLength(1);
});

it('a pack whose environment is missing is not tried again and names what it misses to the log alone', async () => {
  const behaviour = { missingEnv: ['CRM_URL'] };
  const { gateway, stubs } = await hostStubs({ a: { behaviour, settings: { restart: { min: '50ms', max: '50ms' } } } });
  expectTryAgain(await stubs.a.invoke(), 'missing-env');
  const failure = await gateway.waitForRecord((record) => record.event === 'start-failed');
  expect(JSON.stringify(failure)).toContain('CRM_URL');
  const answer = await stubs.a.invoke();
  expectTryAgain(answer, 'missing-env');
  expect(answer.text).not.toContain('CRM_URL');
  expect(stubs.a.starts()).toHaveLength(1);
});

it('an idle pack is stopped with one SIGTERM and started again by the next call', async () => {
  const { stubs } = await hostStubs({ a: { settings: { idle: '500ms' } } });
  expectRan(await stubs.a.invoke());
  await until('it has stopped', () => stubs.a.events('stopped').length === 1);
  expect(stubs.a.events('signal').map(({ signal }) => signal)).toEqual(['SIGTERM']);
  expect(expectRan(await stubs.a.invoke()).start).toBe(2);
});
