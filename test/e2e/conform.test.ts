import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { DEVIATIONS } from '../contract/deviations.ts';
import type { TargetName } from '../contract/programs.ts';
import { DIST, mutant, OUR_CHILD, unruly } from '../gateway/cli/conformance.ts';
import type { AtEnd } from '../support/atEnd.ts';
import { until } from '../support/files.ts';
import { findRealServices, requiresRealServices } from '../support/realServices.ts';
import { killProcess, processesStartedIn } from '../support/processes.ts';

const MAIN = join(DIST, 'gateway', 'main.js');
const real = findRealServices();
const suffix = real.isFound ? '' : ` – skipped: ${real.reason}`;

/** The whole table, on a machine that may be busy. */
const WHOLE = { timeout: 300_000 };
const SLOW = { timeout: 90_000 };

const folder = mkdtempSync(join(tmpdir(), 'packgate-conform-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly child: ChildProcess;
  /** Its folder for temporary files. */
  readonly temporary: string;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

/** Starts `packgate conform` as its users do; everything that it starts has this folder in its environment. */
function start(argv: readonly string[], atEnd: AtEnd = onTestFinished): Run {
  const temporary = mkdtempSync(join(folder, 'run-'));
  const child = spawn(process.execPath, [MAIN, 'conform', ...argv], {
    cwd: temporary,
    env: { PATH: process.env.PATH, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text));
  }
  atEnd(() => {
    if (child.exitCode === null && child.pid !== undefined) killProcess(child.pid);
    for (const pid of processesStartedIn(temporary)) killProcess(pid);
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...texts }));
  return { child, ended, temporary };
}

interface Report {
  readonly summary: { readonly checks: number };
  readonly checks: readonly { readonly clause: string; readonly verdict: string; readonly came?: string }[];
}

async function reportOf({ ended }: Run): Promise<{ code: number | null; report: Report; findings: string[] }> {
  const { code, stdout, stderr } = await ended;
  expect(stderr).toBe('');
  const report = JSON.parse(stdout) as Report;
  const findings = report.checks.filter(({ verdict }) => verdict === 'finding').map(({ clause }) => clause);
  return { code, report, findings };
}

/** Clauses that a released service is known not to keep; those that depend on timing may hold as well. */
function deviationsOf(target: TargetName): { readonly always: string[]; readonly sometimes: string[] } {
  const own = DEVIATIONS.filter((deviation) => deviation.target === target);
  const clauses = (isTiming: boolean): string[] =>
    own.filter((deviation) => (deviation.isTiming === true) === isTiming).map(({ clause }) => clause);
  return { always: clauses(false), sometimes: clauses(true) };
}

async function isLeftWithNothing(temporary: string): Promise<void> {
  await until('nothing runs any more', () => processesStartedIn(temporary).length === 0);
  expect(readdirSync(temporary)).toEqual([]);
}

describe('packgate conform', () => {
  test('finds nothing in our own service, and leaves nothing behind', WHOLE, async () => {
    const run = start(['--json', '--', ...OUR_CHILD]);
    const { code, report, findings } = await reportOf(run);
    expect([code, findings]).toEqual([0, []]);
    expect(report.summary.checks).toBeGreaterThan(200);
    expect(report.checks.filter(({ verdict }) => verdict !== 'holds')).toEqual([]);
    await isLeftWithNothing(run.temporary);
  });

  for (const [target, command] of [
    ['real Python', real.isFound ? [real.python, '-m', 'kindgi.pack', 'serve'] : []],
    ['real Node', real.isFound ? real.nodeService : []],
  ] as const) {
    test.skipIf(!real.isFound && !requiresRealServices())(
      `finds in the released service (${target}) what it is known to do otherwise, and nothing else${suffix}`,
      WHOLE,
      async () => {
        const { code, findings } = await reportOf(start(['--json', '--', ...command]));
        const { always, sometimes } = deviationsOf(target);
        expect(code).toBe(1);
        expect(findings.filter((clause) => !sometimes.includes(clause)).toSorted()).toEqual(always.toSorted());
      },
    );
  }
});

describe('packgate conform of what is no pack service', () => {
  const CASES = [
    ['silent', /did not come within 15000 ms; it printed nothing/],
    ['exits', /did not come before the end \(exit code 3\)/],
    ['nobody', /ECONNREFUSED/],
    ['hangs', /no answer within 15000 ms/],
    ['ssh', /not the start of an HTTP answer: SSH-2\.0/],
    ['endless', /no answer within 15000 ms|it sends without end/],
    ['floods', /did not come within 15000 ms/],
  ] as const;

  describe.concurrent('that is a finding, in bounded time', () => {
    for (const [mode, came] of CASES) {
      test(`when it is "${mode}"`, SLOW, async ({ onTestFinished: atEnd }) => {
        const run = start(['--json', '--language', 'js', '--', ...unruly(mode)], atEnd);
        const { code, report, findings } = await reportOf(run);
        expect([code, findings]).toEqual([1, ['C14/listening']]);
        expect(report.checks[0]?.came).toMatch(came);
        await isLeftWithNothing(run.temporary);
      });
    }
  });

  test('one that does not end, nor what it started, is ended', SLOW, async () => {
    const run = start(['--json', '--only', 'A1/routes', '--', ...unruly('clings')]);
    const { code, findings } = await reportOf(run);
    expect([code, findings]).toEqual([1, ['A1/routes']]);
    await isLeftWithNothing(run.temporary);
  });

  test('a command that is not there is a finding that says so', SLOW, async () => {
    const { code, report } = await reportOf(start(['--json', '--', join(folder, 'nowhere')]));
    expect(code).toBe(1);
    expect(report.checks[0]?.came).toMatch(/nowhere cannot be started: it does not exist/);
  });
});

describe("the README's command", () => {
  const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');
  const section = readme.slice(readme.indexOf('\n## Check a pack service in any language\n'));

  test('checks our own service and finds nothing', SLOW, () => {
    const command = /```sh\nnode (dist\/.*)\n```/.exec(section)?.[1] ?? '';
    expect(command).toMatch(/^dist\/gateway\/main\.js conform /);
    const options = { cwd: dirname(DIST), encoding: 'utf8' } as const;
    const { status, stdout } = spawnSync(process.execPath, command.split(' '), options);
    expect(stdout).toMatch(/\n\d+ checks: \d+ hold, 0 findings, 0 not looked at; \d+\.\d s\n$/);
    expect(status).toBe(0);
  });

  test('shows a finding as it is shown there', SLOW, async () => {
    const shown = /```\n(clause [^]*?\n)\n\d/.exec(section)?.[1] ?? 'nothing';
    const command = ['--only', 'A1/routes,B1/context', '--', ...mutant('context of another tenant is accepted')];
    const { code, stdout } = await start(['--language', 'js', ...command]).ended;
    expect(code).toBe(1);
    expect(stdout).toContain(shown);
  });
});

describe('packgate conform that is ended', () => {
  /** Runs a check that takes 8 s, and resolves when the service is there. */
  async function underWay(): Promise<Run> {
    const run = start(['--only', 'C32', '--', ...OUR_CHILD]);
    await until('a service runs', () => processesStartedIn(run.temporary).length >= 3, 20_000);
    return run;
  }

  test('by Ctrl+C kills what it started, tells what it has seen and exits with 1', SLOW, async () => {
    const { child, ended, temporary } = await underWay();
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(1);
    expect(stdout).toMatch(/C32\/long-call +not looked at .*\n +because +interrupted by SIGINT\n/);
    expect(stderr).toBe('packgate: not all was looked at: interrupted by SIGINT.\n');
    await isLeftWithNothing(temporary);
  });

  test('by SIGKILL leaves no process behind', SLOW, async () => {
    const { child, ended, temporary } = await underWay();
    child.kill('SIGKILL');
    await ended;
    await until('nothing runs any more', () => processesStartedIn(temporary).length === 0, 10_000);
    expect(processesStartedIn(temporary)).toEqual([]);
  });
});
