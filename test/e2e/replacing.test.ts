import { describe, expect, it } from 'vitest';
import { order, statusOf } from '../support/admin.ts';
import { expectRan } from '../support/expectations.ts';
import { until } from '../support/files.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { callInFlight } from '../support/inFlight.ts';

describe('an instance is replaced', () => {
  it('that was told to drain behind the gateway’s back: calls that meet it go to the next one, five times over', async () => {
    const { gateway, stubs } = await hostStubs({ a: { settings: { restart: { healthy: '1ms' } } } });
    expectRan(await stubs.a.invoke());
    for (let round = 0; round < 5; round += 1) {
      const long = await callInFlight(stubs.a, 400);
      const { serving } = await statusOf(gateway, stubs.a.tenantId);
      process.kill(serving?.pid ?? 0, 'SIGTERM');
      const answers = await Promise.all(Array.from({ length: 20 }, () => stubs.a.invoke()));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expectRan(await long.answer);
    }
    const ids = stubs.a.ranIds();
    expect(new Set(ids).size).toBe(ids.length);
    // Its drain was not disturbed by a second signal.
    const signals = stubs.a.events('signal');
    expect(new Set(signals.map(({ pid }) => pid)).size).toBe(signals.length);
  });

  it('when it has had its calls, or its age, without one that fails', async () => {
    const { stubs } = await hostStubs({
      calls: { settings: { recycle: { calls: 20 } } },
      age: { settings: { recycle: { age: '1s' } } },
    });
    for (let call = 0; call < 100; call += 1) {
      expectRan(await stubs.calls.invoke());
      expectRan(await stubs.age.invoke());
    }
    await until('the old age shows', async () => {
      expectRan(await stubs.age.invoke());
      return stubs.age.starts().length > 1;
    });
    expect(stubs.calls.starts().length).toBeGreaterThan(1);
    expect(new Set(stubs.calls.ranIds()).size).toBe(100);
  });

  it('by hand, where the status tells each start, its steps, its cause and its reason', async () => {
    const { gateway, stubs } = await hostStubs({ a: {} });
    expectRan(await stubs.a.invoke());
    expect(await order(gateway, stubs.a.tenantId, 'default', 'restart', { wait: true })).toMatchObject({ status: 200 });
    stubs.a.behave({ bootFailure: { problems: ['no such module x'] } });
    const refused = await order(gateway, stubs.a.tenantId, 'default', 'reload', { wait: true });
    expect(refused).toMatchObject({
      status: 409,
      json: { ok: false, code: 'boot-failed', problems: ['no such module x'] },
    });
    const status = await statusOf(gateway, stubs.a.tenantId);
    expect(status).toMatchObject({ state: 'ready', reason: { code: 'boot-failed' }, serving: { name: 'default#2' } });
    expect(status.boots.map(({ cause, outcome }) => `${cause} ${outcome}`)).toEqual([
      'reload failed',
      'restart ready',
      'call ready',
    ]);
    expect(status.boots[0]?.failure?.problems).toEqual(['no such module x']);
    expect(status.boots[0]?.lastOutput.join('\n')).toContain('no such module x');
    expect(status.boots[1]?.steps.map(({ step }) => step)).toEqual([
      'queue',
      'index',
      'launch',
      'listen',
      'ready',
      'proof',
    ]);
    expectRan(await stubs.a.invoke());
  });
});

describe('what is up without a call', () => {
  it('starts with the gateway, comes back after it died, and never rests', async () => {
    const { gateway, stubs } = await hostStubs({ a: { settings: { start: 'eager', idle: '200ms' } } });
    const first = await until('it is up', async () => (await statusOf(gateway, stubs.a.tenantId)).serving?.pid);
    process.kill(first, 'SIGKILL');
    await until('it is up again', async () => {
      const pid = (await statusOf(gateway, stubs.a.tenantId)).serving?.pid;
      return pid !== undefined && pid !== first;
    });
    expectRan(await stubs.a.invoke());
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect((await statusOf(gateway, stubs.a.tenantId)).state).toBe('ready');
  });
});

describe('memory', () => {
  it('is made by the coldest pack that nobody uses; where all are busy a call may come again', async () => {
    // A stub takes some 15 to 25 MiB here, so that two fit and three do not.
    const { gateway, stubs } = await hostStubs({ a: {}, b: {}, c: {} });
    expectRan(await stubs.a.invoke());
    const measured = await until(
      'its memory has been measured',
      async () => (await statusOf(gateway, stubs.a.tenantId)).memoryBytes,
      10_000,
    );
    await gateway.stop();
    const configuration = { memory: `${Math.ceil((measured * 2.6) / 1024 / 1024)}MiB` };
    const tight = await hostStubs({ a: {}, b: {}, c: {} }, { configuration });
    expectRan(await tight.stubs.a.invoke());
    expectRan(await tight.stubs.b.invoke());
    expectRan(await tight.stubs.b.invoke());
    expectRan(await tight.stubs.c.invoke());
    const stateOf = async (stub: (typeof tight.stubs)['a']): Promise<string> =>
      (await statusOf(tight.gateway, stub.tenantId)).state;
    expect([await stateOf(tight.stubs.a), await stateOf(tight.stubs.c)]).toEqual(['idle', 'ready']);
    const busy = [await callInFlight(tight.stubs.c, 1_500), await callInFlight(tight.stubs.b, 1_500)];
    const refused = await tight.stubs.a.invoke();
    expect([refused.status, refused.json.code, refused.headers['retry-after']]).toEqual([503, 'memory', '1']);
    for (const { answer } of busy) expectRan(await answer);
    await until('there is room again', async () => (await tight.stubs.a.invoke()).status === 200);
    expect(new Set(tight.stubs.a.ranIds()).size).toBe(tight.stubs.a.ranIds().length);
  });
});
