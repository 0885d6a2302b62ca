import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { CLAUSES } from '../../../shared/conform/clauses.ts';
import { packFolder, startChild, TOKEN } from '../../child/support/child.ts';
import { until } from '../../support/files.ts';
import { descriptorCount } from '../../support/processes.ts';
import { buildConformance, conform, conformReport, mutant, OUR_CHILD, unruly } from './conformance.ts';
import type { BuiltConformance } from './conformance.ts';

const SLOW = { timeout: 60_000 };
const TENANT = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';

let built: BuiltConformance | undefined;
const packOptions = (): readonly string[] => (built ??= buildConformance()).options;
afterAll(() => built?.remove());

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'packgate-conform-unit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('conform --list', () => {
  test('shows every check and starts nothing', async () => {
    const { code, stdout, stderr } = await conform(['--list']);
    expect([code, stderr]).toEqual([0, '']);
    const [head = '', ...lines] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^clause +shows also +seen by +what$/);
    expect(lines).toHaveLength(CLAUSES.length);
    expect(lines.find((line) => line.startsWith('B4/full '))).toMatch(
      /^B4\/full +A2 A9 +process +a full service is 421/,
    );
  });

  test('takes groups, numbers and names, and numbers that a check shows besides its own', async () => {
    const listed = async (only: string): Promise<string[]> => {
      const { stdout } = await conform(['--list', '--json', '--only', only]);
      return (JSON.parse(stdout) as { clause: string }[]).map(({ clause }) => clause);
    };
    expect(await listed('A24/limit, C5')).toEqual(['A24/limit', 'C5/newline']);
    expect(await listed('E1')).toEqual(['C13/version']);
    const groups = await listed('a,B');
    expect(new Set(groups.map((id) => id[0]))).toEqual(new Set(['A', 'B']));
    expect(groups).toHaveLength(CLAUSES.filter(({ id }) => /^[AB]/.test(id)).length);
  });
});

describe('conform of a command', () => {
  test('shows findings first, with what was expected and what came, and a summary last', SLOW, async () => {
    const only = ['--only', 'A1/routes,B1/context'];
    const { code, stdout, stderr } = await conform([...packOptions(), ...only, '--', ...mutant('403 instead of 421')]);
    expect([code, stderr]).toEqual([1, '']);
    const [service, blank, ...lines] = stdout.trimEnd().split('\n');
    expect([service, blank]).toEqual([mutant('403 instead of 421').join(' '), '']);
    expect(lines.slice(0, 5)).toEqual([
      'clause      verdict  what',
      'B1/context  FINDING  a call whose context names another tenant is 421',
      '    expected  421',
      expect.stringMatching(/^ {4}came {6}403 \(status, with \{"error":".*","code":"pack-tenant-mismatch"\}\)$/),
      'A1/routes   holds    four routes answer: invoke, info and the two probes',
    ]);
    expect(lines.at(-1)).toMatch(/^2 checks: 1 hold, 1 finding, 0 not looked at; \d+\.\d s$/);
  });

  test('prints TAP, and writes XML for JUnit into a file', SLOW, async () => {
    const cwd = temporaryFolder();
    const argv = [...packOptions(), '--tap', '--junit', 'out.xml', '--only', 'A1/routes,B1/context'];
    const { code, stdout } = await conform([...argv, '--', ...mutant('403 instead of 421')], { cwd });
    expect(code).toBe(1);
    const tap = stdout.trimEnd().split('\n');
    expect(tap.slice(0, 2)).toEqual(['TAP version 14', '1..2']);
    expect(tap[3]).toBe('not ok 1 - B1/context: a call whose context names another tenant is 421');
    expect(tap.slice(4, 6)).toEqual(['  ---', '  expected: "421"']);
    expect(tap.at(-2)).toBe('ok 2 - A1/routes: four routes answer: invoke, info and the two probes');
    const xml = readFileSync(join(cwd, 'out.xml'), 'utf8');
    expect(xml).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/);
    expect(xml).toMatch(/<testsuite name="[^"]+" tests="2" failures="1" skipped="0" errors="0"/);
    expect(xml).toMatch(
      /<testcase classname="conform\.B" name="B1\/context: [^"<]+" time="\d+\.\d{3}"><failure message="403 /,
    );
    expect(xml.match(/<testcase /g)).toHaveLength(2);
  });

  test(
    'judges a check alone when the service they shared died under it: only the guilty one is a finding',
    SLOW,
    async () => {
      const argv = [...packOptions(), '--only', 'A6,A10,A37,A43/keep-alive', '--', ...mutant('dies of a HEAD')];
      expect((await conformReport(argv)).findings).toEqual(['A6/head']);
    },
  );

  test('does not look at what needs a tool that the pack lacks, and says which', SLOW, async () => {
    const [, pack = '', , file = ''] = packOptions();
    const index = JSON.parse(readFileSync(file, 'utf8')) as { tools: { id: string }[] };
    const less = join(temporaryFolder(), 'index.json');
    const tools = index.tools.filter(({ id }) => id !== 'conformance.sleep');
    writeFileSync(less, JSON.stringify({ ...index, tools }));
    const only = ['--only', 'A1/routes,A11/result,C32/long-call,C13/missing-module'];
    const argv = ['--pack', pack, '--index', less, ...only, '--', ...OUR_CHILD];
    const { code, checks } = await conformReport(argv);
    expect(code).toBe(0);
    const reason = 'the pack has no tool conformance.sleep';
    expect(checks.map(({ clause, verdict, reason: why }) => [clause, verdict, why])).toEqual([
      ['A11/result', 'not-looked-at', reason],
      ['C32/long-call', 'not-looked-at', reason],
      ['A1/routes', 'holds', undefined],
      ['C13/missing-module', 'holds', undefined],
    ]);
    expect(checks.slice(0, 3).map(({ needs }) => needs)).toEqual([
      ['conformance.sleep'],
      ['conformance.sleep'],
      ['conformance.echo'],
    ]);
  });

  test('that is cut short while the service starts finds nothing, and says so', SLOW, async () => {
    const argv = [...packOptions(), '--only', 'A1,C14', '--limit', '1s', '--', ...unruly('silent')];
    const { code, checks } = await conformReport(argv);
    expect(code).toBe(1);
    expect(new Set(checks.map(({ verdict, reason }) => `${verdict}: ${reason}`))).toEqual(
      new Set(['not-looked-at: the time for all checks is over']),
    );
  });

  test('keeps no descriptor open', SLOW, async () => {
    const argv = [...packOptions(), '--only', 'A1,A6,A39,B1,C14', '--', ...OUR_CHILD];
    await conformReport(argv);
    const before = descriptorCount(process.pid);
    for (let round = 0; round < 3; round += 1) expect((await conformReport(argv)).code).toBe(0);
    await until('all descriptors are closed', () => descriptorCount(process.pid) <= before);
    expect(descriptorCount(process.pid)).toBeLessThanOrEqual(before);
  });

  test('ends in the time it is given', SLOW, async () => {
    const argv = [...packOptions(), '--only', 'C32', '--limit', '3s', '--', ...OUR_CHILD];
    const { code, checks, stderr } = await conformReport(argv);
    expect(code).toBe(1);
    expect(checks[0]?.reason).toBe('the time for all checks is over');
    expect(stderr).toBe('packgate: not all was looked at: the time for all checks is over.\n');
  });
});

describe('conform of a service that runs', () => {
  const urlOf = (port: number): string[] => ['--url', `http://127.0.0.1:${port}`, '--token-env', 'T'];
  const env = { T: `${TOKEN}\n` };

  async function ourChild(tenantId?: string): Promise<string[]> {
    const [, pack = '', , index = ''] = packOptions();
    const child = await startChild({
      index,
      moduleRoot: pack,
      env: tenantId === undefined ? {} : { KINDGI_PACK_TENANT_ID: tenantId },
    });
    onTestFinished(() => child.stop());
    return urlOf(child.port);
  }

  test('checks what HTTP shows, and says why it does not look at the rest', SLOW, async () => {
    const url = await ourChild(TENANT);
    const { code, checks } = await conformReport([...url, '--tenant', TENANT, ...packOptions()], { env });
    expect(code).toBe(0);
    const verdictOf = (scope: string): Set<string> =>
      new Set(
        checks
          .filter(({ clause }) => CLAUSES.find(({ id }) => id === clause)?.scope === scope)
          .map(({ verdict, reason }) => `${verdict}: ${reason ?? ''}`),
      );
    expect(verdictOf('http')).toEqual(new Set(['holds: ']));
    expect(verdictOf('process')).toEqual(
      new Set(['not-looked-at: a process is seen by whoever starts it: give its command']),
    );
  });

  test('without tenant and index does not judge the pin, nor compare the service with itself', SLOW, async () => {
    const { code, checks } = await conformReport([...(await ourChild()), '--only', 'B1,B2,D28,D29,D3,A1'], { env });
    expect(code).toBe(0);
    const reasonOf = (clause: string): string | undefined => checks.find((check) => check.clause === clause)?.reason;
    expect(reasonOf('B1/header-missing')).toBe('it is not known which tenant the service is pinned to');
    expect(reasonOf('D29/index-hash')).toBe('the index file is not known');
    expect(checks.find(({ clause }) => clause === 'D3/fields')?.verdict).toBe('holds');
    expect(checks.find(({ clause }) => clause === 'A1/routes')?.verdict).toBe('holds');
  });

  test('that lets nobody in is told before anything is checked', SLOW, async () => {
    const url = await ourChild(TENANT);
    const wrong = await conform([...url, '--tenant', TENANT], { env: { T: 'wrong' } });
    expect([wrong.code, wrong.stdout]).toEqual([1, '']);
    expect(wrong.stderr).toMatch(/answers 401 to GET \/v1\/info: .*Check the token that --token-env names\.\n$/s);
    const unnamed = await conform(url, { env });
    expect(unnamed.stderr).toMatch(/answers 421 .*It is pinned: name its tenant with --tenant\.\n$/s);
  });

  test('that is no pack service, or is not there, is told', async () => {
    const server = createServer((_request, response) => response.end('<html>'));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    const html = await conform(urlOf(port), { env });
    expect([html.code, html.stdout]).toEqual([1, '']);
    expect(html.stderr).toMatch(
      /^packgate: the answer of http:.* to GET \/v1\/info is no JSON: .*Is it a pack service\?\n$/,
    );
    await new Promise((resolve) => {
      server.closeAllConnections();
      server.close(resolve);
    });
    const gone = await conform(urlOf(port), { env });
    expect(gone.stderr).toMatch(/^packgate: no answer from http:.*ECONNREFUSED.* Start the service/);
  });
});

describe('conform, used in a wrong way', () => {
  const CASES: readonly (readonly [argv: readonly string[], stderr: RegExp])[] = [
    [[], /there is nothing to check\. Give a command after "--"/],
    [['--url', 'http://127.0.0.1:1', '--token-env', 'T', '--', 'x'], /--url and a command do not go together/],
    [['--url', 'http://127.0.0.1:1'], /--url needs --token-env/],
    [['--url', 'http://127.0.0.1:1', '--token-env', 'NONE'], /the variable NONE holds no token/],
    [['--url', 'https://127.0.0.1', '--token-env', 'T'], /is no address of a pack service/],
    [['--tenant', 'a', '--', 'x'], /--tenant is for a service that runs/],
    [['--only', 'A1/none', '--', 'x'], /--only names "A1\/none", which is no clause/],
    [['--only', ',', '--', 'x'], /--only names nothing/],
    [['--language', 'go', '--', 'x'], /--language go is not known/],
    [['--language', 'js', '--pack', '.', '--', 'x'], /--language and --pack do not go together/],
    [['--jobs', '0', '--', 'x'], /--jobs 0 is no number/],
    [['--limit', '5', '--', 'x'], /--limit 5 is no duration/],
    [['--pack', '/nowhere', '--', 'x'], /there is no folder \/nowhere/],
    [['--pack', tmpdir(), '--', 'x'], /it is not known how .* is indexed/],
  ];

  for (const [argv, stderr] of CASES) {
    test(`exits with 2: conform ${argv.join(' ')}`, async () => {
      const outcome = await conform(argv, { env: { PATH: process.env.PATH, T: 'token' } });
      expect([outcome.code, outcome.stdout]).toEqual([2, '']);
      expect(outcome.stderr).toMatch(stderr);
    });
  }

  test('a file that is no index is told', async () => {
    const file = join(temporaryFolder(), 'index.json');
    for (const [text, why] of [
      ['{', /JSON/],
      ['{"tools":7}', /it has no list "tools"/],
      ['{"tools":[{}]}', /an entry of "tools" has no id/],
      ['{"tools":[],"guardrails":[]}', /"packId" is no text/],
      [
        '{"packId":"p","packVersion":"1","artifactVersion":"1","tools":[{"id":"p.t"}],"guardrails":[]}',
        /has no tool conformance\.echo: it is not of a conformance pack/,
      ],
    ] as const) {
      writeFileSync(file, text);
      const { code, stderr } = await conform(['--pack', packFolder('conformance-js'), '--index', file, '--', 'x']);
      expect(code).toBe(1);
      expect(stderr).toMatch(why);
    }
  });
});
