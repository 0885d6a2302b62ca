import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Spares } from '../../../gateway/dev/spares.ts';
import type { LaunchSpec } from '../../../gateway/runtimes/launchSpec.ts';
import { startProcess } from '../../../gateway/supervisor/process.ts';
import type { PackProcess } from '../../../gateway/supervisor/process.ts';
import { temporaryFolder, until } from '../../support/files.ts';

/** Stands in for our child: says early that it waits, then what it was told. */
const PROGRAM = `
const [, , command, ...args] = process.argv;
const tell = (how, args, env) =>
  console.log(JSON.stringify({ how, args, token: env.KINDGI_PACK_SERVICE_TOKEN ?? process.env.KINDGI_PACK_SERVICE_TOKEN }));
if (command !== 'later') tell('plain ' + command, args, {});
else {
  console.error('waits');
  const [what] = args;
  let text = '';
  process.stdin.on('data', (chunk) => (text += chunk));
  process.stdin.on('end', () => {
    const orders = JSON.parse(text);
    tell('later ' + what, orders.args, orders.env);
  });
}
`;

function world() {
  const folder = temporaryFolder();
  const childProgram = join(folder, 'child.mjs');
  writeFileSync(childProgram, PROGRAM);
  const started: PackProcess[] = [];
  const spares = new Spares({
    childProgram,
    launch: (spec, sinks) => {
      const process = startProcess(spec, sinks);
      started.push(process);
      return process;
    },
  });
  onTestFinished(async () => {
    for (const process of started) process.killGroup();
    await Promise.all(started.map(({ finished }) => finished));
  });
  const spec = (token: string, last: string, more: Partial<LaunchSpec> = {}): LaunchSpec => ({
    command: process.execPath,
    args: [childProgram, 'serve', '--index', last],
    cwd: folder,
    env: { HOME: folder, KINDGI_PACK_SERVICE_TOKEN: token },
    ...more,
  });
  const launch = (one: LaunchSpec) => {
    let [out, err] = ['', ''];
    const process = spares.launch(one, {
      onStdout: (chunk) => (out += chunk.toString()),
      onStderr: (chunk) => (err += chunk.toString()),
    });
    return { process, out: () => out, err: () => err };
  };
  return { spares, started, spec, launch };
}

describe('a process that is started ahead of time', () => {
  it('is the one that is launched, with what was not known before; what it printed early is not lost', async () => {
    const { spares, started, spec, launch } = world();
    spares.prepare(spec('', ''));
    expect(started).toHaveLength(1);
    const launched = launch(spec('secret', 'one.json'));
    expect(launched.process).toBe(started[0]);
    await launched.process.finished;
    expect(JSON.parse(launched.out())).toEqual({ how: 'later serve', args: ['--index', 'one.json'], token: 'secret' });
    expect(launched.err()).toBe('waits\n');
  });

  it('is used once, and only for what it would have been started with', async () => {
    const { spares, started, spec, launch } = world();
    spares.prepare(spec('', ''));
    spares.prepare(spec('', ''));
    expect(started).toHaveLength(1);
    const others = [
      launch(spec('t', 'a', { env: { HOME: '/', KINDGI_PACK_SERVICE_TOKEN: 't' } })),
      launch(spec('t', 'a', { cwd: '/' })),
      launch({ ...spec('t', 'a'), args: ['--no-warnings', ...spec('t', 'a').args] }),
      launch({ ...spec('t', 'a'), args: spec('t', 'a').args.map((arg) => (arg === 'serve' ? 'index' : arg)) }),
    ];
    const same = [launch(spec('t', 'a')), launch(spec('t', 'a'))];
    await Promise.all([...others, ...same].map(({ process }) => process.finished));
    const ways = [...others, ...same].map(({ out }) => (JSON.parse(out()) as { how: string }).how);
    expect(ways).toEqual(['plain serve', 'plain serve', 'plain serve', 'plain index', 'later serve', 'plain serve']);
  });

  it('that has ended is not waited for', async () => {
    const { spares, started, spec, launch } = world();
    spares.prepare(spec('', ''));
    started[0]?.killGroup();
    await started[0]?.finished;
    const launched = launch(spec('t', 'a'));
    await launched.process.finished;
    expect(JSON.parse(launched.out())).toMatchObject({ how: 'plain serve' });
  });

  it('is one of few: the oldest makes room; closed, none is left and none comes', async () => {
    const { spares, started, spec } = world();
    for (let pack = 0; pack < 6; pack += 1) spares.prepare(spec('', '', { env: { HOME: `/${pack}` } }));
    await Promise.all(started.slice(0, 2).map(({ exited }) => exited));
    let isOver = false;
    const closing = spares.close().then(() => (isOver = true));
    spares.prepare(spec('', '', { env: { HOME: '/late' } }));
    await closing;
    expect([isOver, started.length]).toEqual([true, 6]);
    const exits = await Promise.all(started.map(({ exited }) => exited));
    expect(exits).toEqual(started.map(() => ({ kind: 'signal', signal: 'SIGKILL' })));
  });

  it('leaves what is no program of ours alone', async () => {
    const { spares, started, launch } = world();
    const python = { command: process.execPath, args: ['-e', 'console.log(1)'], cwd: '/', env: {} };
    spares.prepare(python);
    expect(started).toHaveLength(0);
    const launched = launch(python);
    await until('it ran', () => launched.out() === '1\n');
  });
});
