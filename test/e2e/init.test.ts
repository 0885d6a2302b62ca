// From nothing to an answered call with the commands that `packgate init` prints, from a clone and from the package.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../support/files.ts';
import { killProcess, processesMentioning, processesStartedIn } from '../support/processes.ts';
import { findRealServices } from '../support/realServices.ts';

// npm packs, and a gateway starts a pack, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const root = resolve(import.meta.dirname, '../..');
const DIST = process.env.PACKGATE_TEST_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));
const MAIN = join(DIST, 'gateway', 'main.js');

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function sh(script: string, cwd: string): Ended {
  const env = { ...process.env };
  delete env.PACKGATE_TOKEN;
  // Of the project's own npm, when a test runs under it.
  for (const name of Object.keys(env)) if (name.startsWith('npm_')) delete env[name];
  return spawnSync('bash', ['--norc', '-c', script], { cwd, encoding: 'utf8', env, timeout: 60_000 });
}

/** A folder whose processes are ended with the test, by pid. */
function workFolder(): string {
  const folder = temporaryFolder();
  onTestFinished(() => [...processesMentioning(folder), ...processesStartedIn(folder)].forEach(killProcess));
  return folder;
}

/**
 * The commands that were printed, as somebody pastes them, all at once; then what `more` says, and Ctrl+C's signal to the
 * gateway. Only the port is another one: no test has a port of its own.
 */
function followInstructions(printed: string, folder: string, name: string, more: string): Ended {
  const file = join(folder, name, 'packgate.yaml');
  const yaml = readFileSync(file, 'utf8');
  expect(yaml).toContain('listen: 127.0.0.1:8787\n');
  writeFileSync(file, yaml.replace('listen: 127.0.0.1:8787', 'listen: unix:packgate.sock'));
  const commands = [...printed.matchAll(/^ {2}((?:cd|export|node|\S*\/packgate) .*)$/gm)].map(
    ([, command = '']) => command,
  );
  expect(commands).toHaveLength(3);
  const code = 'echo "exit $?"';
  return sh([...commands, code, more, code, 'kill %1; wait %1', code].join('\n'), folder);
}

const GREETED = '{\n  "greeting": "Hello, you!"\n}\nexit 0\n';

describe('from a clone', () => {
  it('the README says how to begin', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const [, command = ''] = /## Begin with a pack of your own\n\n```sh\n(.*)\n```/.exec(readme) ?? [];
    const folder = workFolder();
    expect(sh(command.replace('dist/gateway/main.js', `'${MAIN}'`), folder)).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(join(folder, 'my-packs')).toSorted()).toEqual([
      '.gitignore',
      'README.md',
      'packgate.yaml',
      'packs',
    ]);
  });

  it.each(['ts', 'js'])('three commands lead to an answered call of a pack in %s, and its check judges', (language) => {
    const folder = workFolder();
    const printed = sh(`node '${MAIN}' init my-pack --language ${language}`, folder);
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    const check = `node '${MAIN}' invoke --check my-pack.polite '{"output":"HELLO!"}'`;
    const { stdout, stderr } = followInstructions(printed.stdout, folder, 'my-pack', check);
    expect(stdout).toBe(`${GREETED}{\n  "passed": false,\n  "reason": "it is all in capitals"\n}\nexit 1\nexit 0\n`);
    expect(stderr).toContain('result of my-pack.hello');
    expect(processesStartedIn(folder)).toEqual([]);
  });

  const real = findRealServices();
  it.skipIf(!real.isFound)(`so they do in Python${real.isFound ? '' : ` (skipped: ${real.reason})`}`, () => {
    if (!real.isFound) return;
    const folder = workFolder();
    const printed = sh(`node '${MAIN}' init my-pack --language python`, folder);
    const file = join(folder, 'my-pack/packgate.yaml');
    writeFileSync(file, `${readFileSync(file, 'utf8')}    python: ${real.python}\n`);
    const check = `node '${MAIN}' invoke --check my-pack.polite '{"output":"Hello!"}'`;
    const { stdout } = followInstructions(printed.stdout, folder, 'my-pack', check);
    expect(stdout).toBe(`${GREETED}{\n  "passed": true\n}\nexit 0\nexit 0\n`);
  });
});

describe('from the packed tarball', () => {
  /** A project with the package in it as npm lays it out; its dependencies are this checkout's, so that no registry is asked. */
  function projectWithPackage(): string {
    const project = workFolder();
    const stage = temporaryFolder();
    const build = dirname(DIST) === root ? root : dirname(DIST);
    for (const name of ['deploy', 'README.md', 'package.json'])
      symlinkSync(join(root, name), join(stage, `${name}.link`));
    const copied = sh(
      `cp -r '${build}/dist' . && for f in deploy README.md package.json; do cp -rL $f.link $f && rm $f.link; done && npm pack --ignore-scripts --silent`,
      stage,
    );
    expect(copied.status).toBe(0);
    const modules = join(project, 'node_modules');
    mkdirSync(join(modules, '.bin'), { recursive: true });
    expect(sh(`tar xzf '${join(stage, copied.stdout.trim())}'`, modules).status).toBe(0);
    renameSync(join(modules, 'package'), join(modules, 'packgate'));
    const { dependencies, bin } = JSON.parse(readFileSync(join(modules, 'packgate/package.json'), 'utf8')) as Record<
      'dependencies' | 'bin',
      Record<string, string>
    >;
    for (const name of Object.keys(dependencies)) symlinkSync(join(root, 'node_modules', name), join(modules, name));
    for (const [name, file] of Object.entries(bin)) {
      sh(`chmod +x '../packgate/${file}' && ln -s '../packgate/${file}' ${name}`, join(modules, '.bin'));
    }
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    return project;
  }

  it('three commands lead to an answered call, and everything it needs is in it', () => {
    const project = projectWithPackage();
    const printed = sh('npx packgate init my-pack', project);
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    expect(printed.stdout).toContain('  ../node_modules/.bin/packgate serve 2>packgate.log &\n');
    const { stdout } = followInstructions(
      printed.stdout,
      project,
      'my-pack',
      '../node_modules/.bin/packgate invoke --list',
    );
    expect(stdout).toMatch(
      /^\{\n {2}"greeting": "Hello, you!"\n\}\nexit 0\npack my-pack 0\.1\.0 .*\ntool {3}my-pack\.hello {2}0\.1\.0\ncheck {2}my-pack\.polite\nexit 0\n/,
    );
    expect(readdirSync(join(project, 'node_modules/packgate'))).toEqual(
      expect.arrayContaining(['README.md', 'deploy', 'dist', 'package.json']),
    );
    expect(existsSync(join(project, 'node_modules/packgate/test'))).toBe(false);
    // The types that the templates name are in it, too, and fit.
    expect(sh('npx packgate init plain --language js', project).status).toBe(0);
    const options =
      '--noEmit --strict --allowJs --checkJs --module nodenext --target es2022 --lib es2023,dom --types ""';
    const tsc = `node '${join(root, 'node_modules/typescript/bin/tsc')}'`;
    expect(sh(`${tsc} ${options} my-pack/packs/*/*/*.ts plain/packs/*/*/*.mjs`, project)).toMatchObject({
      status: 0,
      stdout: '',
    });
  });
});
