// A caller's token stays with the gateway; a child's own never leaves it.
import { expect, it } from 'vitest';
import { expectRan } from '../support/expectations.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import { commandLineOf, environmentOf } from '../support/processes.ts';

it('a caller’s token is in no child’s environment, arguments, request, log or error', async () => {
  const { gateway, stubs } = await hostStubs({ a: {}, b: { behaviour: { bootFailure: { problems: ['broken'] } } } });
  const wrong = 'a-wrong-but-secret-token';
  const bearer = 'a-platform-identity-token';
  const answers = [
    await stubs.a.invoke({ headers: { authorization: `Bearer ${bearer}` } }),
    await stubs.a.invoke({ token: wrong }),
    await stubs.a.invoke({ headers: { 'kindgi-tenant-id': 'nobody' } }),
    await stubs.b.invoke(),
    await stubs.a.invoke({ input: { act: 'die' } }),
    await stubs.a.invoke(),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 421, 503, 500, 200]);

  const pid = stubs.a.starts().at(-1)?.pid ?? 0;
  const environment = environmentOf(pid);
  const childToken = environment.find((line) => line.startsWith('KINDGI_PACK_SERVICE_TOKEN='))?.split('=')[1] ?? '';
  expect(childToken.length).toBeGreaterThanOrEqual(16);

  const seenByChildren = JSON.stringify([environment, commandLineOf(pid), stubs.a.runs(), stubs.b.runs()]);
  const seenByCallers = JSON.stringify(answers.map(({ headers, text }) => [headers, text]));
  expect((await gateway.stop()).code).toBe(0);
  for (const secret of [gateway.token, wrong, bearer]) {
    expect(seenByChildren).not.toContain(secret);
    expect(seenByCallers).not.toContain(secret);
    expect(gateway.output()).not.toContain(secret);
  }
  expect(seenByCallers).not.toContain(childToken);
  expect(gateway.output()).not.toContain(childToken);
});

it('C10: a child’s environment is the contract’s names and the pack’s own, nothing of the gateway’s', async () => {
  const { stubs } = await hostStubs(
    { a: { settings: { env: { GREETING: 'hello' } } } },
    { env: { AWS_SECRET_ACCESS_KEY: 'cloud', NODE_EXTRA_CA_CERTS: '/nowhere' } },
  );
  expectRan(await stubs.a.invoke());
  const names = environmentOf(stubs.a.starts()[0]?.pid ?? 0).map((line) => line.split('=')[0]);
  expect(names).toEqual(
    expect.arrayContaining(['GREETING', 'HOME', 'KINDGI_PACK_TENANT_ID', 'LANG', 'PATH', 'PORT', 'KINDGI_LOG_FORMAT']),
  );
  const allowed = /^(?:GREETING|HOME|LANG|PATH|PORT|TMPDIR|TZ|KINDGI_.*|PACKGATE_.*)$/;
  expect(names.filter((name) => !allowed.test(name ?? ''))).toEqual([]);
});

it('C7: every start has a token of its own', async () => {
  const { stubs } = await hostStubs({ a: {} });
  const tokenOf = (start: number): string | undefined =>
    stubs.a.runs().find((run) => run.start === start)?.headers['kindgi-pack-token'];
  await stubs.a.invoke({ input: { act: 'die' } });
  expectRan(await stubs.a.invoke());
  expect(tokenOf(1)).toMatch(/^[!-~]{16,}$/);
  expect(tokenOf(2)).toMatch(/^[!-~]{16,}$/);
  expect(tokenOf(1)).not.toBe(tokenOf(2));
});
