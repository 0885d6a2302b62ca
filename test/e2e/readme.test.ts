// The README's commands, run as a reader would.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder, until } from '../support/files.ts';

import { killProcess, processesOfGroup } from '../support/processes.ts';

// npm, a build and the first start of three packs: more than the usual half minute on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const root = resolve(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const hasCurl = spawnSync('curl', ['--version'], { stdio: 'ignore' }).status === 0;
const whyNot = hasCurl ? '' : ' (skipped: no curl on this machine)';

/** The first block of that language after the heading. */
function block(language: string, heading: string): string {
  const section = readme.slice(readme.indexOf(`\n## ${heading}\n`));
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section)?.[1];
  if (found === undefined) throw new Error(`README has no ${language} block under "${heading}"`);
  return found;
}

/** All blocks of that language after the heading, up to the next one. */
function blocks(language: string, heading: string): string[] {
  const [section = ''] = readme.slice(readme.indexOf(`\n## ${heading}\n`) + 1).split(/\n## /);
  return [...section.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text);
}

/** The pack services that a gateway says it started; each leads a group of its own. */
function pidsOf(output: string): number[] {
  return [...output.matchAll(/"event":"instance-starting".*?"pid":(\d+)/g)].map(([, pid]) => Number(pid));
}

/** A shell command in a process group of its own, ended with the test. */
function start(command: string, cwd: string, env: Record<string, string> = {}) {
  const child = spawn('sh', ['-c', `exec ${command}`], {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const group = child.pid ?? 0;
  // When the test fails half-way, what the gateway started is left to us: its groups are its own.
  onTestFinished(() => [group, ...pidsOf(output)].flatMap(processesOfGroup).forEach(killProcess));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const exit = new Promise<number | null>((done) => child.once('exit', done));
  return {
    group,
    exit,
    output: () => output,
    signal: (signal: NodeJS.Signals, pid = group) => process.kill(pid, signal),
  };
}

function sh(script: string, cwd: string) {
  return spawnSync('sh', ['-c', script], { cwd, encoding: 'utf8' });
}

describe('npm start', () => {
  const isAlive = (pid: number): boolean => processesOfGroup(pid).length > 0;

  for (const [how, end] of [
    ['SIGTERM to npm itself', (group: number) => process.kill(group, 'SIGTERM')],
    ['Ctrl+C, which the whole group gets', (group: number) => process.kill(-group, 'SIGINT')],
  ] as const) {
    it.skipIf(!hasCurl)(
      `prints calls that answer as printed; ${how} leaves no process and ends with 0${whyNot}`,
      async () => {
        const npm = start('npm start', root, { PORT: '0' });
        await until('the welcome', () => npm.output().includes('Ctrl+C stops it'), 60_000);
        const calls = [...npm.output().matchAll(/^ {2}curl [\s\S]*?(?=\n\n)/gm)].map(([call]) => call);
        expect(calls.length).toBeGreaterThanOrEqual(3);
        const answers = calls.map((call) => sh(call, root).stdout);
        expect(answers[0]).toContain('"queue":"billing"');
        expect(answers[1]).toContain('"totalCents":6783');
        expect(answers.at(-1)).toMatch(/^HTTP\/1\.1 421 [\s\S]*pack-tenant-mismatch/);
        const children = await until('the log of two starts', () => {
          const pids = pidsOf(npm.output());
          return pids.length >= 2 && pids;
        });
        expect(children.filter(isAlive)).toEqual(children);
        end(npm.group);
        expect(await npm.exit).toBe(0);
        expect(children.filter(isAlive)).toEqual([]);
        expect(processesOfGroup(npm.group)).toEqual([]);
      },
    );
  }
});

describe('the README', () => {
  function packFolder(): string {
    const folder = temporaryFolder();
    cpSync(join(root, 'deploy/demo/packs'), join(folder, 'packs'), { recursive: true });
    writeFileSync(join(folder, 'packgate.yaml'), block('yaml', 'Host your own packs').replace(':8787', ':0'));
    return folder;
  }

  const [check = '', serve = ''] = blocks('sh', 'Host your own packs').map((text) =>
    text.replaceAll('node dist/', `node ${root}/dist/`),
  );

  it('has a configuration that check finds good and shows', () => {
    const { status, stdout } = sh(check, packFolder());
    expect(status).toBe(0);
    expect(stdout).toContain('3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b');
  });

  it.skipIf(!hasCurl)(`has a command that serves it and a call that is answered${whyNot}`, async () => {
    const server = start(
      `sh -c '${serve.replaceAll("'", "'\\''").replace('\nnode', '\nexec node')}'`,
      packFolder(),
      {},
    );
    const token = (): string | undefined => /"address":"([^"]+)"/.exec(server.output())?.[1];
    const address = await until('the gateway listens', token);
    const environment = readFileSync(`/proc/${server.group}/environ`, 'utf8');
    const secret = /PACKGATE_TOKEN=([0-9a-f]+)/.exec(environment)?.[1] ?? '';
    const call = block('sh', 'Call a tool').replace('http://127.0.0.1:8787', address);
    const answer = sh(`PACKGATE_TOKEN=${secret}\n${call}`, root).stdout;
    expect(JSON.parse(answer)).toMatchObject({ kind: 'result', output: { queue: 'billing' } });
    server.signal('SIGTERM');
    expect(await server.exit).toBe(0);
  });
});
