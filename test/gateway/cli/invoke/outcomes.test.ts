// What `packgate invoke` makes of every answer: exit code, what stands on which output, and that a call is sent once.
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exchange } from '../../../../gateway/cli/invoke/request.ts';
import { until } from '../../../support/files.ts';
import { packgate } from '../output.ts';
import { answering, fakeGateway, result, TENANT, TOKEN } from './fakeGateway.ts';
import type { Behaviour } from './fakeGateway.ts';

const TERMINAL = { isTty: { stdin: true, stdout: true, stderr: true } };
/** What a terminal acts on. */
const EVIL = 'x\u001b[2J\u009b31m\u202e\u2028';
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const ACTING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/;

const error = (code: string, more: object = {}): object => ({
  v: 2,
  kind: 'error',
  code,
  message: 'went wrong',
  ...more,
});
const refusal = (status: number, code: string, headers = {}): Behaviour =>
  answering({ error: 'a reason', code }, status, headers);

const OUTCOMES: [what: string, behaviour: Behaviour, exitCode: number, stderr: RegExp][] = [
  ['a result', result({ a: 1 }), 0, /^result of acme\.echo {2}\(12 ms, version 20250101\.1\)\n$/],
  [
    'an error of the pack',
    answering(error('handler-throw')),
    1,
    /^error handler-throw of acme\.echo: went wrong {2}\(12 ms/,
  ],
  [
    'a pause',
    answering({ v: 2, kind: 'pause' }),
    3,
    /^paused: acme\.echo waits, 1d 0h at most\n {2}The call had no wait token/,
  ],
  [
    '401',
    refusal(401, 'bad-token'),
    4,
    /^refused: 401 bad-token, a reason\. It did not run\.\nrequest [0-9a-f-]{36}\n$/,
  ],
  ['404', refusal(404, 'not-found'), 4, /^refused: 404/],
  ['413', refusal(413, 'body-too-large'), 4, /^refused: 413/],
  ['415', refusal(415, 'not-json'), 4, /^refused: 415/],
  ['421', refusal(421, 'pack-tenant-mismatch'), 4, /^refused: 421 pack-tenant-mismatch/],
  [
    '503',
    refusal(503, 'cooling', { 'retry-after': '7' }),
    5,
    /^not now: 503 cooling, a reason\. It did not run; try again after 7 s\.\nrequest/,
  ],
  ['503 without a time', refusal(503, 'draining'), 5, /try again\.\n/],
  ['500', refusal(500, 'instance-lost'), 6, /^broken: 500 instance-lost, a reason\. It may have run\.\nrequest/],
  ['500 in plain text', answering('Internal Server Error', 500), 6, /^broken: 500\. It may have run/],
  ['502', answering('<html>', 502), 6, /^broken: 502/],
  [
    '200 that is no JSON',
    answering('<html>'),
    6,
    /^lost: the answer is no message of the protocol\. It may have run\.\nrequest/,
  ],
  ['200 of an unknown kind', answering({ v: 2, kind: 'constructor' }), 6, /^lost/],
  ['a result without output', answering({ v: 2, kind: 'result' }), 6, /^lost/],
  ['a check-result without a verdict', answering({ v: 2, kind: 'check-result', result: {} }), 6, /^lost/],
  [
    'an answer that is cut',
    (res) => void res.writeHead(200, { 'content-length': 100 }).write('{"v":2', () => res.destroy()),
    6,
    /^lost: its answer was cut\. It may have run/,
  ],
  ['no answer', (res) => void res.destroy(), 6, /^lost: the connection was closed without an answer\. It may have run/],
  ['a redirect', answering('', 302, { location: '/elsewhere' }), 69, /is no gateway/],
  ['404 of something else', answering('<html>', 404), 69, /^packgate: what answers \(status 404\) is no gateway/],
];

describe('the answer', () => {
  it.each(OUTCOMES)('%s', async (_, behaviour, exitCode, stderr) => {
    const gateway = await fakeGateway(behaviour);
    const outcome = await gateway.invoke(['acme.echo']);
    expect(outcome).toMatchObject({ code: exitCode, stderr: expect.stringMatching(stderr) as string });
    expect(outcome.stdout === '').toBe(exitCode !== 0);
    expect(gateway.seen.map(({ path }) => path)).toEqual(['/v1/invoke']);
  });

  it.each([
    [{ passed: true }, 0, /^acme\.polite passed {2}\(12 ms/],
    [{ passed: false, reason: 'it shouts' }, 1, /^acme\.polite failed: it shouts/],
  ])('of a check: %j', async (verdict, code, stderr) => {
    const gateway = await fakeGateway(answering({ v: 2, kind: 'check-result', result: verdict }));
    const outcome = await gateway.invoke(['--check', 'acme.polite', '{"output":"HI"}']);
    expect(outcome).toMatchObject({ code, stderr: expect.stringMatching(stderr) as string });
    expect(JSON.parse(outcome.stdout)).toEqual(verdict);
    expect(gateway.message()).toEqual({
      v: 2,
      kind: 'check-invoke',
      check: { id: 'acme.polite' },
      config: {},
      trace: { output: 'HI' },
    });
  });

  it('is data on stdout alone, and as it came with --json, errors and refusals included', async () => {
    expect((await (await fakeGateway(result({ a: [1] }))).invoke(['t'])).stdout).toBe('{\n  "a": [\n    1\n  ]\n}\n');
    const exact = '{ "v":2,"kind":"result",  "output":12345678901234567890}';
    expect(await (await fakeGateway(answering(exact))).invoke(['t', '--json'])).toEqual({
      code: 0,
      stdout: `${exact}\n`,
      stderr: '',
    });
    const refused = await (await fakeGateway(refusal(421, 'pack-tenant-mismatch'))).invoke(['t', '--json']);
    expect(JSON.parse(refused.stdout)).toEqual({ error: 'a reason', code: 'pack-tenant-mismatch' });
    expect(refused.stderr).toMatch(/^refused: 421/);
  });

  it('of a pause says what it waits for, how long, and where the output is posted to', async () => {
    const gateway = await fakeGateway(answering({ v: 2, kind: 'pause', name: 'approval', timeoutMs: 7_200_000 }));
    const url = 'http://127.0.0.1:9/wait/1';
    const { code, stderr } = await gateway.invoke(['t', '--ctx', JSON.stringify({ waitToken: { id: '1', url } })]);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^paused: t waits for "approval", 2h 0m at most\n {2}Its output is .* to http:\/\/127\.0\.0\.1:9\/wait\/1\n/,
    );
  });

  it('of a pack that fails shows every issue and the stack', async () => {
    const issues = [
      { instancePath: '/name', message: 'must be string' },
      { instancePath: '', message: "must have required property 'a'" },
    ];
    const cause = { name: 'Error', message: 'boom', stack: 'Error: boom\n    at tools/a.ts:3:1' };
    const gateway = await fakeGateway(answering(error('input-validation-failed', { issues, cause })));
    const { stderr } = await gateway.invoke(['t']);
    expect(stderr.split('\n').slice(1, 6)).toEqual([
      '  /name: must be string',
      "  (the whole): must have required property 'a'",
      '  | Error: boom',
      '  |     at tools/a.ts:3:1',
      expect.stringMatching(/^request /),
    ]);
  });

  it('has colours on a terminal only', async () => {
    const gateway = await fakeGateway(result(1));
    expect((await gateway.invoke(['t'], TERMINAL)).stderr).toContain('\u001b[32mresult\u001b[39m');
    expect((await gateway.invoke(['t'], { ...TERMINAL, env: { NO_COLOR: '1' } })).stderr).not.toContain('\u001b');
    expect((await gateway.invoke(['t'])).stderr).not.toContain('\u001b');
  });
});

describe('hostile answers', () => {
  const HOSTILE: [string, Behaviour][] = [
    ['a result', answering(`{"v":2,"kind":"result","output":${JSON.stringify(EVIL)}}`)],
    ['a header', answering({ v: 2, kind: 'result', output: 1 }, 200, { 'kindgi-artifact-version': '\u009b31m' })],
    [
      'an error',
      answering(
        error(EVIL, { issues: [{ instancePath: EVIL, message: EVIL }], cause: EVIL, message: EVIL, connection: EVIL }),
      ),
    ],
    ['a pause', answering({ v: 2, kind: 'pause', name: EVIL })],
    ['a check', answering({ v: 2, kind: 'check-result', result: { passed: false, reason: EVIL } })],
    ['a refusal', answering({ error: EVIL, code: EVIL }, 421)],
    ['a 503', answering({ error: EVIL, code: EVIL }, 503, { 'retry-after': '\u009b31m' })],
  ];

  it.each(HOSTILE)('%s: nothing acts on a terminal, as text and as JSON', async (_, behaviour) => {
    const gateway = await fakeGateway(behaviour);
    for (const json of [[], ['--json']]) {
      const { stdout, stderr } = await gateway.invoke([EVIL, ...json], { ...TERMINAL, env: { NO_COLOR: '1' } });
      expect(stdout).not.toMatch(ACTING);
      expect(stderr).not.toMatch(ACTING);
    }
  });

  it('as JSON stay the same data on a terminal, and the same bytes in a pipe', async () => {
    const body = `{"v":2,\r\n\t"kind":"result","output":${JSON.stringify(EVIL)}}`;
    const gateway = await fakeGateway(answering(body));
    const shown = await gateway.invoke(['t', '--json'], TERMINAL);
    expect(JSON.parse(shown.stdout)).toEqual(JSON.parse(body));
    expect((await gateway.invoke(['t', '--json'])).stdout).toBe(`${body}\n`);
  });

  it('of an info are no completions and no terminal codes', async () => {
    const ids = ['acme.echo', EVIL, 'acme.$(touch x)', 'acme.a b', '-rf', 'acme.`id`'];
    const info = {
      protocol: 2,
      packId: EVIL,
      packVersion: '1',
      artifactVersion: '1',
      tools: ids.map((id) => ({ id })),
      checks: [EVIL],
    };
    const gateway = await fakeGateway(answering(info));
    expect((await gateway.invoke(['--complete'])).stdout).toBe('acme.echo\n');
    expect((await gateway.invoke(['--list'])).stdout).not.toMatch(ACTING);
  });
});

describe('a name that is not there', () => {
  const info = {
    protocol: 2,
    packId: 'acme',
    packVersion: '1',
    artifactVersion: '1',
    tools: [{ id: 'acme.echo', version: '1' }],
    checks: ['acme.polite'],
  };
  const lacking: Behaviour = (res, seen) => {
    const kind = seen.body.includes('check-invoke') ? 'check' : 'tool';
    answering(seen.path === '/v1/info' ? info : error(`${kind}-not-in-pack`))(res, seen);
  };

  it.each([
    [['acme.ecoh'], 'Did you mean acme.echo?'],
    [['echo'], 'Did you mean acme.echo?'],
    [['acme.polite'], 'That is a check: --check calls it.'],
    [['zzzzzzzzz'], '"packgate invoke --list" shows what there is.'],
    [['--check', 'acme.polit'], 'Did you mean acme.polite?'],
    [['--check', 'acme.echo'], 'That is a tool.'],
  ])('%j: %s', async (argv, hint) => {
    const gateway = await fakeGateway(lacking);
    const { code, stderr } = await gateway.invoke(argv);
    expect([code, stderr.split('\n').at(-2)]).toEqual([1, hint]);
    expect(gateway.seen.map(({ path }) => path)).toEqual(['/v1/invoke', '/v1/info']);
  });

  it('is found with --list, by people and by programs', async () => {
    const gateway = await fakeGateway(lacking);
    const { code, stdout } = await gateway.invoke(['--list']);
    expect([code, stdout]).toEqual([0, 'pack acme 1 (version 1)\ntool   acme.echo  1\ncheck  acme.polite\n']);
    expect(JSON.parse((await gateway.invoke(['--list', '--json'])).stdout)).toEqual(info);
    expect((await gateway.invoke(['--complete', 'acme.e'])).stdout).toBe('acme.echo\n');
    expect((await gateway.invoke(['--complete', 'x'])).stdout).toBe('');
  });

  it.each([
    [401, 4],
    [503, 5],
    [500, 6],
  ])('cannot be listed where info is answered %d: exit %d', async (status, code) => {
    const gateway = await fakeGateway(refusal(status, 'x'));
    expect(await gateway.invoke(['--list'])).toMatchObject({ code, stdout: '' });
    expect(await gateway.invoke(['--complete', 'a'])).toEqual({ code: 1, stdout: '', stderr: '' });
  });
});

describe('a gateway that is not there', () => {
  const invoke = (url: string, ...more: string[]): ReturnType<typeof packgate> =>
    packgate(['invoke', 'x', '--url', url, '--tenant', TENANT, ...more], { env: { PACKGATE_TOKEN: TOKEN } });

  /** A port that nobody listens on: one that was free a moment ago. */
  async function freePort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    await new Promise((done) => void server.close(done));
    return port;
  }

  it('is 69: nothing listens, no such socket, no such host', async () => {
    const port = await freePort();
    expect(await invoke(`http://127.0.0.1:${port}`)).toEqual({
      code: 69,
      stdout: '',
      stderr: `packgate: no gateway answers at http://127.0.0.1:${port}. Start it with "packgate serve", or say where it is with --url.\n`,
    });
    expect((await invoke('unix:/nowhere/at/all.sock')).code).toBe(69);
    expect((await invoke('http://nobody.invalid')).code).toBe(69);
    expect(await invoke(`http://127.0.0.1:${port}`, '--complete')).toMatchObject({ code: 1, stdout: '', stderr: '' });
    expect((await invoke(`http://127.0.0.1:${port}`, '--wait', '300ms')).code).toBe(69);
  });

  it('speaks no TLS where TLS was asked for: 69, nothing was sent', async () => {
    const gateway = await fakeGateway(result(1));
    const { code } = await invoke(gateway.url.replace('http:', 'https:'));
    expect([code, gateway.seen]).toEqual([69, []]);
  });

  it('is waited for with --wait, and called once', async () => {
    const port = await freePort();
    const calling = invoke(`http://127.0.0.1:${port}`, '--wait', '20s');
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('HTTP/1.1 503 x\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}'));
    });
    // The first attempt has had its answer by then; whether it was one or three does not matter.
    await new Promise((done) => setImmediate(done));
    await new Promise<void>((done) => void server.listen(port, '127.0.0.1', done));
    onTestFinished(() => new Promise<void>((done) => void server.close(() => done())));
    expect((await calling).code).toBe(5);
    expect(connections).toBe(1);
  });
});

describe('the end of a call', () => {
  it('comes when there is no answer in time, and closes the connection', async () => {
    let isClosed = false;
    const gateway = await fakeGateway((res) => void res.on('close', () => (isClosed = true)));
    const port = Number(new URL(gateway.url).port);
    const place = { text: '', isTls: false, connect: { host: '127.0.0.1', port }, host: 'localhost' };
    const answer = await exchange(place, { method: 'POST', path: '/', headers: {}, body: '{}', withinMs: 1_000 });
    expect(answer).toEqual({ kind: 'lost', why: 'no answer in time' });
    await until('the connection is closed', () => isClosed);
    expect(gateway.seen).toHaveLength(1);
  });

  it('by Ctrl+C or SIGTERM closes the connection, which cancels the call', async () => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const closed: Promise<void>[] = [];
      const listeners = new Map<string, () => void>();
      const gateway = await fakeGateway((res) => {
        closed.push(new Promise((done) => void res.on('close', done)));
        listeners.get(signal)?.();
      });
      const outcome = await gateway.invoke(['t'], { onSignal: (name, listener) => void listeners.set(name, listener) });
      expect(outcome).toMatchObject({
        code,
        stdout: '',
        stderr: expect.stringMatching(/^cancelled: .*\nrequest /) as string,
      });
      await Promise.all(closed);
      expect(closed).toHaveLength(1);
    }
  });
});
