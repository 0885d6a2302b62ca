import { describe, expect, it, onTestFinished } from 'vitest';
import type { FakePackOptions, FaultSettings, TestGateway } from '../../../gateway/testing/testing.ts';
import { kit } from '../../support/testingKit.ts';

const TOOL = 'acme.echo';

/** On a machine that is busy with other tests. */
const PATIENCE = { timeout: 20_000 };

async function hostFake(faults: readonly FaultSettings[], options: FakePackOptions = {}) {
  const fake = kit.fakePackService({ tools: [TOOL], checks: ['acme.check'], ...options });
  const gateway = await kit.createGateway({ tenants: { acme: fake }, faults });
  onTestFinished(() => gateway.close());
  return { fake, gateway, client: gateway.client('acme') };
}

const lastRecord = (gateway: TestGateway) => gateway.records.at(-1);

describe('a fault on order', () => {
  it('421: refused as for another tenant, and did not run', async () => {
    const { fake, gateway, client } = await hostFake([{ nth: 1, fault: '421' }]);
    kit.assertTenantMismatch(await client.invoke(TOOL));
    expect(lastRecord(gateway)).toMatchObject({ status: 421, handedOver: 'no', fault: '421' });
    expect(fake.calls()).toEqual([]);
    kit.assertResult(await client.invoke(TOOL, 1), 1);
    expect(lastRecord(gateway)?.fault).toBeUndefined();
  });

  it('503: try again, and did not run; also without the header that says so', async () => {
    const { fake, gateway, client } = await hostFake([
      { nth: 1, fault: '503' },
      { nth: 2, fault: '503-without-retry-after' },
    ]);
    kit.assertTryAgain(await client.invoke(TOOL), 'overloaded');
    const bare = await client.invoke(TOOL);
    expect(bare).toMatchObject({ status: 503, body: { code: 'overloaded' } });
    expect(bare.headers).not.toHaveProperty('retry-after');
    expect(gateway.records.map(({ handedOver }) => handedOver)).toEqual(['no', 'no']);
    expect(fake.calls()).toEqual([]);
  });

  it('500: may have run, and did', async () => {
    const { fake, gateway, client } = await hostFake([{ nth: 1, fault: '500' }]);
    kit.assertMayHaveRun(await client.invoke(TOOL));
    expect(lastRecord(gateway)).toMatchObject({ status: 500, code: 'instance-lost', handedOver: 'yes' });
    expect(fake.calls()).toHaveLength(1);
    kit.assertResult(await client.invoke(TOOL));
    expect(fake.starts()).toHaveLength(1);
  });

  it('late: the same answer, later', async () => {
    const { client } = await hostFake([{ nth: 2, fault: 'late', ms: 400 }]);
    const timed = async () => {
      const from = performance.now();
      const { text } = await client.invoke(TOOL, 'same');
      return { text, ms: performance.now() - from };
    };
    const [prompt, late] = [await timed(), await timed()];
    expect(late.text).toBe(prompt.text);
    expect(late.ms).toBeGreaterThanOrEqual(400);
  });

  it('late past the deadline: the call ran, and is answered as one that did not finish', async () => {
    const { fake, gateway, client } = await hostFake([{ fault: 'late', ms: 60_000 }]);
    // What of a deadline a start would use up belongs to no answer.
    await gateway.start('acme');
    const answer = await client.invoke(TOOL, {}, { timeoutMs: 100 });
    kit.assertToolError(answer, 'deadline-exceeded');
    expect(lastRecord(gateway)).toMatchObject({ outcome: 'late', handedOver: 'yes' });
    expect(fake.calls()).toHaveLength(1);
  });

  it('late, to a caller that leaves: nothing of the call is left', async () => {
    const { fake, gateway, client } = await hostFake([{ fault: 'late', ms: 60_000 }]);
    const leave = new AbortController();
    const left = client.invoke(TOOL, {}, { signal: leave.signal });
    await fake.received(1);
    leave.abort();
    await expect(left).rejects.toThrow(kit.BrokenAnswer);
    await expect.poll(() => gateway.status('acme').calls.inFlight, PATIENCE).toBe(0);
    expect(lastRecord(gateway)).toMatchObject({ outcome: 'left', status: undefined });
  });

  it('half-answer: the head with the length of the whole, half of it, and the end', async () => {
    const { fake, client } = await hostFake([{ nth: 1, fault: 'half-answer' }]);
    const broken = await client.invoke(TOOL, 'x'.repeat(1_000)).catch((error: unknown) => error);
    expect(broken).toBeInstanceOf(kit.BrokenAnswer);
    const { status, text } = broken as InstanceType<typeof kit.BrokenAnswer>;
    expect(status).toBe(200);
    expect(text).toHaveLength(
      Math.floor(JSON.stringify({ v: 2, kind: 'result', output: 'x'.repeat(1_000) }).length / 2),
    );
    expect(fake.calls()).toHaveLength(1);
    kit.assertResult(await client.invoke(TOOL, 1), 1);
  });

  it('cut: not a byte of an answer, and the call ran', async () => {
    const { fake, gateway, client } = await hostFake([{ nth: 1, fault: 'cut' }]);
    await expect(client.invoke(TOOL)).rejects.toMatchObject({ name: 'BrokenAnswer', status: undefined, text: '' });
    expect(lastRecord(gateway)).toMatchObject({ status: undefined, handedOver: 'yes', fault: 'cut' });
    expect(fake.calls()).toHaveLength(1);
  });

  it('meets checks, too, and leaves foreign calls uncounted', async () => {
    const { gateway, client } = await hostFake([{ tool: 'acme.check', nth: 1, fault: '500' }]);
    kit.assertMayHaveRun(await client.check('acme.check'));
    kit.assertResult(await client.check('acme.check'), { passed: true });
    kit.assertTenantMismatch(await client.invoke(TOOL, {}, { asTenant: { ctx: 'other' } }));
    expect(gateway.faultTrace()).toBe('{"tenant":"acme","tool":"acme.check","n":1,"fault":"500"}\n');
  });

  it('calls that a lane refuses by itself are counted all the same', async () => {
    const { fake, gateway, client } = await hostFake([{ nth: 3, fault: '421' }], {
      settings: { restart: { min: '60s', max: '60s' } },
    });
    fake.start({ problems: ['no such module'] });
    await expect(gateway.start('acme')).rejects.toThrow('no such module');
    const answers = [await client.invoke(TOOL), await client.invoke(TOOL), await client.invoke(TOOL)];
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 421]);
    expect(fake.calls()).toEqual([]);
  });

  it('never-ready: the start takes its whole bootTimeout and fails; the next one is well', async () => {
    const { gateway, client } = await hostFake([{ nth: 1, fault: 'never-ready' }], {
      settings: { bootTimeout: '2s', restart: { min: '1ms' } },
    });
    const answer = await client.invoke(TOOL);
    if (answer.status !== 200) kit.assertTryAgain(answer);
    await expect.poll(async () => (await client.invoke(TOOL)).status, PATIENCE).toBe(200);
    expect(gateway.status('acme').boots.at(-1)).toMatchObject({ outcome: 'failed', failure: { code: 'timeout' } });
    expect(gateway.faultTrace()).toBe('{"tenant":"acme","tool":null,"n":1,"fault":"never-ready"}\n');
  });

  it("forged-line: a line that names the gateway's own port is found out, and catches no call", async () => {
    const { gateway, client } = await hostFake([{ nth: 1, fault: 'forged-line' }], {
      settings: { restart: { min: '1ms' } },
    });
    await client.invoke(TOOL);
    await expect.poll(async () => (await client.invoke(TOOL)).status, PATIENCE).toBe(200);
    expect(gateway.status('acme').boots.at(-1)).toMatchObject({ outcome: 'failed', failure: { code: 'proof-failed' } });
  });
});
