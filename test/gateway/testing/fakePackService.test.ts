import { describe, expect, it, onTestFinished } from 'vitest';
import type { FakePackOptions, FakeReply, TestGatewayOptions } from '../../../gateway/testing/testing.ts';
import { kit } from '../../support/testingKit.ts';

const TOOL = 'acme.do';

/** On a machine that is busy with other tests. */
const PATIENCE = { timeout: 20_000 };

async function host(options: FakePackOptions = {}, more: Partial<TestGatewayOptions> = {}) {
  const fake = kit.fakePackService({ tools: [TOOL, 'acme.other'], checks: ['acme.check'], ...options });
  const gateway = await kit.createGateway({ tenants: { acme: fake }, ...more });
  onTestFinished(() => gateway.close());
  return { fake, gateway, client: gateway.client('acme') };
}

describe('what a fake pack service answers', () => {
  it('its input, and that a check passes, unless told otherwise', async () => {
    const { client } = await host();
    kit.assertResult(await client.invoke(TOOL, { a: [1, null] }), { a: [1, null] });
    kit.assertResult(await client.check('acme.check'), { passed: true });
    kit.assertToolError(await client.invoke('no.such'), 'tool-not-in-pack');
    kit.assertToolError(await client.check(TOOL), 'check-not-in-pack');
    expect(await client.info()).toMatchObject({ info: { packId: 'fake', checks: ['acme.check'], missingEnv: [] } });
  });

  it.each<[string, FakeReply, object]>([
    ['a result', { result: { x: 1 } }, { status: 200, message: { kind: 'result', output: { x: 1 } } }],
    [
      'an error',
      { error: 'handler-throw', message: 'boom' },
      { status: 200, message: { kind: 'error', code: 'handler-throw', message: 'boom', toolId: TOOL } },
    ],
    ['a pause', { pause: { timeoutMs: 5, name: 'n' } }, { status: 200, message: { kind: 'pause', timeoutMs: 5 } }],
    [
      'its own 503',
      { status: 503, headers: { 'retry-after': '7' }, body: '{"error":"overloaded"}' },
      { status: 503, headers: { 'retry-after': '7' }, body: { error: 'overloaded' } },
    ],
    ['its own 500', { status: 500, body: 'broken' }, { status: 500, text: 'broken' }],
    ['bytes that are no HTTP', { raw: 'hello\r\n' }, { status: 500, body: { code: 'instance-lost' } }],
    ['nothing, and closes', { instead: 'close' }, { status: 500, body: { code: 'instance-lost' } }],
    ['nothing, and dies', { instead: 'die' }, { status: 500, body: { code: 'instance-lost' } }],
  ])('%s, once when it is the next, and then as before', async (_, reply, expected) => {
    const { fake, client } = await host();
    fake.next(TOOL, reply);
    expect(await client.invoke(TOOL)).toMatchObject(expected);
    await expect.poll(async () => (await client.invoke(TOOL, 'again')).status, PATIENCE).toBe(200);
  });

  it.each(['close', 'die'] as const)('half of an answer, and %s', async (ending) => {
    const { fake, client } = await host();
    fake.next(TOOL, { half: 'x'.repeat(100), ending });
    await expect(client.invoke(TOOL)).rejects.toMatchObject({
      name: 'BrokenAnswer',
      status: 200,
      text: expect.stringMatching(/^\{"v":2,"kind":"result","output":"x+$/),
    });
  });

  it('nothing at all: the deadline is the gateway’s to keep', async () => {
    const { fake, gateway, client } = await host();
    await gateway.start('acme');
    fake.answer(TOOL, { instead: 'nothing' });
    kit.assertToolError(await client.invoke(TOOL, {}, { timeoutMs: 50 }), 'deadline-exceeded');
    expect(gateway.records.at(-1)).toMatchObject({ outcome: 'late', handedOver: 'yes' });
  });

  it('after a delay, having printed what it was told to', async () => {
    const lines: string[] = [];
    const { fake, client } = await host({}, { log: { write: (line) => lines.push(line) } });
    await client.invoke(TOOL);
    fake.next(TOOL, { result: 1, delayMs: 150, log: ['forged or not', '{"kind":"listening","port":1}'] });
    const from = performance.now();
    kit.assertResult(await client.invoke(TOOL), 1);
    expect(performance.now() - from).toBeGreaterThanOrEqual(149);
    expect(lines.join('')).toContain('forged or not');
    kit.assertResult(await client.invoke(TOOL));
  });

  it('what a function makes of the call, also while it runs', async () => {
    const { fake, client } = await host({ tools: { [TOOL]: ({ ctx }) => ({ result: ctx?.tenantId ?? null }) } });
    kit.assertResult(await client.invoke(TOOL), 'acme');
    fake.answer(TOOL, async ({ input }) => ({ result: [await Promise.resolve(input ?? null)] }));
    kit.assertResult(await client.invoke(TOOL, 5), [5]);
    fake.answer('*', { error: 'cancelled' });
    kit.assertResult(await client.invoke(TOOL, 6), [6]);
    fake.next(TOOL, { result: 'first' });
    fake.next('*', { result: 'second' });
    kit.assertResult(await client.invoke(TOOL), 'first');
    kit.assertResult(await client.invoke(TOOL), 'second');
    fake.answer(TOOL, () => {
      throw new Error('a mistake in the test');
    });
    const answer = await client.invoke(TOOL);
    kit.assertMayHaveRun(answer);
    expect(answer.text).toContain('a mistake in the test');
  });

  it('an id that it has not is the test’s mistake', async () => {
    const { fake } = await host();
    expect(() => fake.answer('acme.dp', { result: 1 })).toThrow(
      'expected the id of one of its tools and checks (acme.do, acme.other, acme.check) or "*", got "acme.dp"',
    );
    expect(() => fake.next('acme.dp', { result: 1 })).toThrow('"acme.dp"');
  });
});

describe('what a fake pack service was sent', () => {
  it('in order, with everything but the token', async () => {
    const { fake, gateway, client } = await host();
    await client.invoke(TOOL, { n: 1 }, { timeoutMs: 5_000, ctx: { projectId: 'p' } });
    await client.check('acme.check', { min: 1 }, { trace: ['t'] });
    await client.invoke('acme.other', { n: 2 });
    expect(fake.calls().map(({ id, kind }) => [id, kind])).toEqual([
      [TOOL, 'invoke'],
      ['acme.check', 'check-invoke'],
      ['acme.other', 'invoke'],
    ]);
    expect(fake.calls(TOOL)).toEqual([
      expect.objectContaining({ tenant: 'acme', input: { n: 1 }, start: 1, pid: fake.starts()[0] }),
    ]);
    const [first, check] = fake.calls();
    expect(first?.ctx).toMatchObject({ tenantId: 'acme', projectId: 'p' });
    expect(Number(first?.headers['kindgi-timeout-ms'])).toBeLessThanOrEqual(5_000);
    expect(check).toMatchObject({ config: { min: 1 }, trace: ['t'] });
    expect(JSON.stringify(fake.calls())).not.toContain(gateway.token);
    expect(first?.headers).not.toHaveProperty('kindgi-pack-token');
    fake.forget();
    expect([fake.calls(), fake.starts()]).toEqual([[], []]);
  });

  it('can be waited for, however many calls there are at once', async () => {
    const { fake, client } = await host();
    const answers = Promise.all(Array.from({ length: 30 }, (_, n) => client.invoke(TOOL, n)));
    expect(await fake.received(30, TOOL)).toHaveLength(30);
    for (const answer of await answers) kit.assertResult(answer);
    const inputs = fake.calls().map(({ input }) => Number(input));
    expect(inputs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  });
});

describe('how a fake pack service starts and ends', () => {
  it.each([
    ['problems', { problems: ['no such module'] }, 'boot-failed'],
    ['an exit', { exitCode: 7 }, 'exited'],
    ['missing variables', { missingEnv: ['API_KEY'] }, 'missing-env'],
    ['a forged line', { forgedPort: 9 }, 'timeout'],
    ['no listening line', { never: 'listens' }, 'timeout'],
    ['never being ready', { never: 'ready' }, 'timeout'],
  ] as const)('with %s: the start fails for that reason, and the next one is well', async (_, start, code) => {
    const { fake, gateway } = await host({ settings: { bootTimeout: code === 'timeout' ? '2s' : '60s' } });
    fake.nextStart(start);
    await expect(gateway.restart('acme')).rejects.toThrow('restart of acme failed');
    expect(gateway.status('acme').boots[0]).toMatchObject({ outcome: 'failed', failure: { code } });
    await expect.poll(() => gateway.start('acme').then(() => 'up'), PATIENCE).toBe('up');
  });

  it('slowly, and dies by itself', async () => {
    const { fake, gateway, client } = await host({ start: { delayMs: 100, readyAfterMs: 100 } });
    fake.nextStart({ delayMs: 50, readyAfterMs: 50, log: ['hello'], dieAfterMs: 3_000 });
    kit.assertResult(await client.invoke(TOOL));
    const first = () => gateway.status('acme').boots.at(-1)?.exit;
    await expect.poll(first, PATIENCE).toEqual({ kind: 'signal', signal: 'SIGKILL' });
    expect(gateway.status('acme').boots.at(-1)?.lastOutput.join('\n')).toContain('hello');
    kit.assertResult(await client.invoke(TOOL));
    expect(fake.starts()).toHaveLength(2);
  });

  it('lets its calls end when it is told to stop, and ends with 0', async () => {
    const { fake, gateway, client } = await host();
    fake.answer(TOOL, { result: 'whole', delayMs: 300 });
    const call = client.invoke(TOOL);
    await fake.received(1);
    await gateway.stop('acme');
    kit.assertResult(await call, 'whole');
    expect(gateway.status('acme').boots[0]?.exit).toEqual({ kind: 'code', code: 0 });
  });
});
