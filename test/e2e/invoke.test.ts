// `packgate invoke` as a program of its own against real gateways: every exit code, who is told what, and what runs.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { INVOKE_EXIT_TEXTS } from '../../gateway/cli/invoke/exitCodes.ts';
import { afterAllTests } from '../support/atEnd.ts';
import { startCountingRelay } from '../support/countingRelay.ts';
import type { CountingRelay } from '../support/countingRelay.ts';
import { temporaryFolder, until } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStubs } from '../support/hostedStubs.ts';
import { killProcess } from '../support/processes.ts';

const DIST = process.env.PACKGATE_TEST_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));
const MAIN = join(DIST, 'gateway', 'main.js');
const OTHER = '8d1c6c0e-0d3f-4c52-9c52-6a1f8f6f2b10';
const MIB = 2 ** 20;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const atEnd = afterAllTests();
let hosted: HostedStubs<'a' | 'b'>;
/** Before the gateway: counts what is really sent. */
let relay: CountingRelay;

beforeAll(async () => {
  hosted = await hostStubs(
    {
      a: { settings: { restart: { min: '10ms', max: '50ms' } } },
      b: { behaviour: { bootFailure: { problems: ['no such module'] } } },
    },
    {},
    atEnd,
  );
  relay = await startCountingRelay(hosted.gateway.port, atEnd);
});

function start(argv: readonly string[], { token = hosted.gateway.token, stdin = '' } = {}): ChildProcess {
  const child = spawn(process.execPath, [MAIN, 'invoke', ...argv], {
    cwd: hosted.folder,
    env: { PATH: process.env.PATH, PACKGATE_TOKEN: token },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(stdin);
  onTestFinished(() => {
    if (child.exitCode === null && child.pid !== undefined) killProcess(child.pid);
  });
  return child;
}

async function ended(child: ChildProcess): Promise<Ended> {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => (texts[name] += text));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...texts };
}

/** Runs it to its end, told where the gateway is. */
function invoke(
  argv: readonly string[],
  options: Parameters<typeof start>[1] & { tenant?: string } = {},
): Promise<Ended> {
  const where = ['--url', relay.address, '--tenant', options.tenant ?? hosted.stubs.a.tenantId];
  return ended(start([...argv, ...where], options));
}

function bash(script: string, { folder = hosted.folder, token = hosted.gateway.token } = {}): ChildProcess {
  const env = { PATH: process.env.PATH, PACKGATE_TOKEN: token };
  return spawn('bash', ['--norc', '-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** A message that the stub sends byte by byte as its answer. */
function rawAnswer(message: object): string {
  const body = JSON.stringify(message);
  const bytes = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  return JSON.stringify({ act: 'raw', bytes });
}

describe('exit codes', () => {
  const pause = rawAnswer({ v: 2, kind: 'pause', name: 'approval' });
  const wrong = rawAnswer({ v: 2, kind: 'error', code: 'handler-throw', message: 'boom' });
  const half = JSON.stringify({
    act: 'raw',
    bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"v":2',
    ending: 'die',
  });

  it.each<[string, number, string[], RegExp, number]>([
    ['a result', 0, ['stub.act'], /^result of stub\.act/, 1],
    ['a check that passed', 0, ['--check', 'stub.check'], /^stub\.check passed/, 1],
    ['an error of the pack', 1, ['stub.act', wrong], /^error handler-throw of stub\.act: boom/, 1],
    ['a tool that is not there', 1, ['stub.cat'], /Did you mean stub\.act\?\n$/, 2],
    ['wrong usage', 2, ['stub.act', '{'], /^packgate: the input is not JSON/, 0],
    ['a pause', 3, ['stub.act', pause], /^paused: stub\.act waits for "approval"/, 1],
    [
      '421 by header',
      4,
      ['stub.act', '{}', '--as-tenant', OTHER, '--as', 'header'],
      /^refused: 421 pack-tenant-mismatch/,
      1,
    ],
    [
      '421 by context',
      4,
      ['stub.act', '{}', '--as-tenant', OTHER, '--as', 'context'],
      /^refused: 421 pack-tenant-mismatch/,
      1,
    ],
    ['421 by both', 4, ['stub.act', '{}', '--as-tenant', OTHER], /^refused: 421 pack-tenant-mismatch/, 1],
    [
      'a 503 of the service',
      5,
      ['stub.act', '{"act":"busy"}'],
      /^not now: 503, overloaded\. It did not run; try again after 7 s\./,
      1,
    ],
    ['500', 6, ['stub.act', '{"act":"die"}'], /^broken: 500 instance-lost/, 1],
    ['a cut answer', 6, ['stub.act', half], /^lost: its answer was cut\. It may have run\./, 1],
  ])('%s: %d', async (_, code, argv, stderr, requests) => {
    const before = relay.requests();
    const outcome = await invoke(argv);
    expect(outcome).toMatchObject({ code, stderr: expect.stringMatching(stderr) as string });
    expect(relay.requests() - before).toBe(requests);
  });

  it('401, 413 and a failing start are 4, 4 and 5', async () => {
    expect(await invoke(['stub.act'], { token: 'another-token-of-enough' })).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/^refused: 401/) as string,
    });
    const large = JSON.stringify({ fill: 'x'.repeat(11 * MIB) });
    for (let round = 0; round < 5; round += 1)
      expect(await invoke(['stub.act', '-'], { stdin: large })).toMatchObject({
        code: 4,
        stderr: expect.stringMatching(/^refused: 413/) as string,
      });
    const failing = await invoke(['stub.act'], { tenant: hosted.stubs.b.tenantId });
    expect(failing).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/^not now: 503 .*try again after \d+ s\.\nrequest [0-9a-f-]{36}\n$/) as string,
    });
  });

  it('a deadline that passes is the pack’s error, in time', async () => {
    // Not the start of a process is to be waited for.
    expect((await invoke(['stub.act'])).code).toBe(0);
    const begun = performance.now();
    const { code, stderr } = await invoke(['stub.act', '{"act":"sleep","ms":30000}', '--timeout', '300ms']);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error deadline-exceeded/)]);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  it('no gateway is 69, a bad configuration 78', async () => {
    const gone = await hostStubs({ a: {} });
    await gone.gateway.stop();
    const where = ['--url', gone.gateway.address, '--tenant', 't'];
    expect(await ended(start(['x', ...where]))).toMatchObject({
      code: 69,
      stderr: expect.stringMatching(/^packgate: no gateway answers/) as string,
    });
    writeFileSync(join(hosted.folder, 'broken.yaml'), '{ [');
    expect(await ended(start(['x', '-c', 'broken.yaml']))).toMatchObject({ code: 78 });
  });
});

it('the request id on failure is the one that the gateway logs and the service gets', async () => {
  const { stderr } = await invoke(['stub.act', '{"act":"die"}']);
  const id = /^request (\S+)$/m.exec(stderr)?.[1];
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  await hosted.gateway.waitForRecord((record) => record.requestId === id && record.status === 500);
  expect(hosted.stubs.a.ranIds()).toContain(id);
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s during a call cancels it, three times of three', async (signal, code) => {
  for (let round = 0; round < 3; round += 1) {
    const before = hosted.stubs.a.events('call-closed').length;
    const runs = hosted.stubs.a.runs().length;
    const where = ['--url', relay.address, '--tenant', hosted.stubs.a.tenantId];
    const child = start(['stub.act', '{"act":"sleep","ms":60000}', ...where]);
    const end = ended(child);
    await until('the call runs', () => hosted.stubs.a.runs().length > runs);
    child.kill(signal);
    expect(await end).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(/^cancelled: /) as string });
    const closed = await until('the service sees its caller leave', () => hosted.stubs.a.events('call-closed')[before]);
    expect(closed.wasAnswered).toBe(false);
  }
});

describe('a large answer', () => {
  const STREAM = JSON.stringify({ act: 'stream', bytes: 20 * MIB });
  const shell = (pipe: string): Promise<Ended> => {
    const where = `--url ${relay.address} --tenant ${hosted.stubs.a.tenantId}`;
    const line = `'${process.execPath}' '${MAIN}' invoke stub.act '${STREAM}' ${where} 2>/dev/null | ${pipe}; echo " \${PIPESTATUS[0]}"`;
    return ended(bash(line));
  };

  it('whose reader leaves early ends as it would have, without a word', async () => {
    expect(await shell('head -c 10')).toEqual({ code: 0, stdout: `"aaaaaaaaa 0\n`, stderr: '' });
  });

  it('comes through whole to a slow reader', async () => {
    expect((await shell('(head -c 1 >/dev/null; sleep 0.5; wc -c)')).stdout).toMatch(
      new RegExp(`^\\s*${20 * MIB + 2}\\s+0\\n$`),
    );
  });
});

describe('the README', () => {
  const readme = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
  const [section = ''] = readme.slice(readme.indexOf('\n## Call from the command line\n') + 1).split(/\n## /);
  const block = (language: string): string =>
    new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section)?.[1] ?? '';

  it('has a command that calls a tool of the demo', async () => {
    const folder = temporaryFolder();
    const pack = fileURLToPath(new URL('../../deploy/demo/packs/support', import.meta.url));
    const listen = `unix:${join(folder, 'packgate.sock')}`;
    const { token } = await startGateway({ folder, tenants: { acme: { pack } }, configuration: { listen } });
    const command = block('sh').replace('dist/gateway/main.js', `'${MAIN}'`);
    const { code, stdout } = await ended(bash(command, { folder, token }));
    expect([code, JSON.parse(stdout)]).toEqual([0, { queue: 'billing', priority: 'normal', matched: ['refund'] }]);
  });

  it('has a function that completes tool ids in bash', async () => {
    const script = `
      packgate() { "${process.execPath}" "${MAIN}" "$@" --url ${relay.address} --tenant ${hosted.stubs.a.tenantId}; }
      ${block('bash')}
      for word in '' stub. x; do COMPREPLY=(); _packgate packgate "$word" invoke; echo "$word: \${COMPREPLY[*]}"; done`;
    expect((await ended(bash(script))).stdout).toBe(': stub.act\nstub.: stub.act\nx: \n');
  });

  it('has every exit code of the help', () => {
    for (const [code] of INVOKE_EXIT_TEXTS) expect(section).toMatch(new RegExp(`^\\| (?:\\d+, )?${code}\\b`, 'm'));
  });
});
