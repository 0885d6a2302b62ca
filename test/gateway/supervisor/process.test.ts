import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { findTether } from '../../../gateway/supervisor/findTether.ts';
import { startProcess } from '../../../gateway/supervisor/process.ts';
import { temporaryFolder } from '../../support/files.ts';

describe('a process', () => {
  const spec = (script: string, more: { command?: string; env?: Record<string, string>; cwd?: string } = {}) => ({
    command: more.command ?? process.execPath,
    args: ['-e', script],
    cwd: more.cwd ?? tmpdir(),
    env: more.env ?? {},
  });
  const silent = { onStdout: () => undefined, onStderr: () => undefined };

  it('has exactly the given environment and leads a group of its own', async () => {
    let printed = '';
    const script =
      'console.log(JSON.stringify([process.env, process.pid, require("fs").readFileSync("/proc/self/stat", "utf8")]))';
    const child = startProcess(spec(script, { env: { A: '1' } }), {
      ...silent,
      onStdout: (chunk) => {
        printed += chunk.toString();
      },
    });
    expect(await child.finished).toEqual({ kind: 'code', code: 0 });
    const [env, pid, stat] = JSON.parse(printed) as [Record<string, string>, number, string];
    expect(env).toEqual({ A: '1' });
    expect(stat.split(') ')[1]?.split(' ')[2]).toBe(String(pid));
  });

  it('that cannot be started says why instead of throwing', async () => {
    const missing = await startProcess(spec('', { command: '/no/such/program' }), silent).finished;
    expect(missing).toMatchObject({ kind: 'spawn-failed', reason: expect.stringContaining('ENOENT') as string });
    const noFolder = await startProcess(spec('', { cwd: '/no/such/folder' }), silent).finished;
    expect(noFolder.kind).toBe('spawn-failed');
    const huge = await startProcess(spec('', { env: { A: 'x'.repeat(4_000_000) } }), silent).finished;
    expect(huge).toMatchObject({ kind: 'spawn-failed', reason: expect.stringContaining('E2BIG') as string });
    const nul = await startProcess(spec('', { env: { A: 'a\0b' } }), silent).finished;
    expect(nul.kind).toBe('spawn-failed');
  });

  it('is finished soon after its exit although something it started holds its output, and that is killed', async () => {
    const script =
      'const c = require("child_process").spawn("sleep", ["60"], { stdio: "inherit" }); c.unref(); console.log(c.pid)';
    let printed = '';
    const child = startProcess(spec(script, { env: { PATH: process.env.PATH ?? '' } }), {
      ...silent,
      onStdout: (chunk) => {
        printed += chunk.toString();
      },
    });
    // The leader waits for nothing: it ends as soon as its script has, and its child goes on.
    await child.exited;
    const from = performance.now();
    await child.finished;
    expect(performance.now() - from).toBeLessThan(2000);
    const sleeper = Number(printed.trim());
    await expect.poll(() => isRunning(sleeper)).toBe(false);
  });
});

// A machine may have no `setpriv`; what then holds is in the rows without a tether.
const tether = await findTether(process.env.PATH);

describe.each([
  { how: 'directly', tether: undefined },
  ...(tether === undefined ? [] : [{ how: 'bound to the life of its parent', tether }]),
])('a program that is started $how and cannot be', ({ tether: bound }) => {
  const env = { PATH: process.env.PATH ?? '' };

  /** A file with this content and mode, and what its start ends with. */
  async function startFile(content: string | Buffer, mode: number): Promise<{ file: string; reason: string }> {
    const file = join(temporaryFolder(), 'program');
    writeFileSync(file, content);
    chmodSync(file, mode);
    return { file, reason: await reasonOf({ command: file, args: [], cwd: tmpdir(), env }) };
  }

  async function reasonOf(spec: Parameters<typeof startProcess>[0]): Promise<string> {
    const sinks = { onStdout: () => undefined, onStderr: () => undefined };
    const exit = await startProcess(spec, sinks, { tether: bound }).finished;
    if (exit.kind !== 'spawn-failed') throw new Error(`Expected spawn-failed, got ${JSON.stringify(exit)}`);
    return exit.reason;
  }

  it('is named when it is missing, as a path or as a name', async () => {
    const args: string[] = [];
    expect(await reasonOf({ command: '/no/such/program', args, cwd: tmpdir(), env })).toBe(
      '/no/such/program cannot be started: it does not exist (ENOENT). Install it, or correct the path in the configuration.',
    );
    expect(await reasonOf({ command: 'no-such-program', args, cwd: tmpdir(), env: { PATH: '/bin' } })).toBe(
      'no-such-program cannot be started: no folder of PATH (/bin) has it (ENOENT). Install it, or correct the path in the configuration.',
    );
  });

  it('names its folder when that is missing, is a file, or was removed', async () => {
    const folder = temporaryFolder();
    const spec = { command: process.execPath, args: ['-e', '0'], env };
    expect(await reasonOf({ ...spec, cwd: join(folder, 'gone') })).toContain(
      'gone does not exist (ENOENT). Restore it',
    );
    writeFileSync(join(folder, 'file'), '');
    expect(await reasonOf({ ...spec, cwd: join(folder, 'file') })).toContain('file is no folder (ENOTDIR)');
  });

  it('is told apart when it may not be executed, or is a folder', async () => {
    expect((await startFile('#!/bin/sh\n', 0o644)).reason).toContain('may not be executed (EACCES)');
    const folder = join(temporaryFolder(), 'program');
    mkdirSync(folder);
    expect(await reasonOf({ command: folder, args: [], cwd: tmpdir(), env })).toContain(
      `${folder} is a folder (EACCES)`,
    );
  });

  it.each([
    ['#!/no/such/interpreter -x\n', '"/no/such/interpreter"'],
    ['#!/usr/bin/env no-such-interpreter\n', '"no-such-interpreter"'],
    ['#!/bin/sh\r\necho\r\n', 'carriage return'],
  ])('is named together with its missing interpreter: %j', async (content, expected) => {
    const { file, reason } = await startFile(content, 0o755);
    expect(reason).toContain(`${file} cannot be started: the interpreter `);
    expect(reason).toContain('(ENOENT)');
    expect(reason).toContain(expected);
  });

  it('is no program: bytes, or a program for another kind of machine', async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff]);
    expect((await startFile(bytes, 0o755)).reason).toContain(
      'neither a program of this machine nor a script (ENOEXEC)',
    );
    const foreign = readFileSync(process.execPath).subarray(0, 4096);
    foreign.writeUInt16LE(0xf3f3, 18);
    expect((await startFile(foreign, 0o755)).reason).toContain('for another kind of machine (ENOEXEC)');
  });

  it('has too large an environment, or a NUL in it', async () => {
    const spec = { command: process.execPath, args: ['-e', '0'], cwd: tmpdir() };
    expect(await reasonOf({ ...spec, env: { A: 'x'.repeat(4_000_000) } })).toMatch(
      /larger .* Shorten env: .*\(E2BIG\)/,
    );
    expect(await reasonOf({ ...spec, env: { A: 'a\0b' } })).toContain('a NUL');
  });
});

describe('a program that was started', () => {
  const sinks = { onStdout: () => undefined, onStderr: () => undefined };

  it.each([2, 3, 126, 127])('and ends with %i by itself has ended with that', async (code) => {
    const spec = { command: 'sh', args: ['-c', `echo setpriv >&2; exit ${code}`], cwd: '/', env: { PATH: '/bin' } };
    expect(await startProcess(spec, sinks, { tether }).finished).toEqual({ kind: 'code', code });
  });

  it.skipIf(tether === undefined)('is not ended when another thread of its parent ends', async () => {
    const spec = { command: process.execPath, args: ['-e', 'setInterval(() => 0, 1000)'], cwd: '/', env: {} };
    const bound = startProcess(spec, sinks, { tether });
    const endThread = async (code: string): Promise<void> => {
      const worker = new Worker(code, { eval: true });
      await new Promise((resolve) => worker.once('exit', resolve));
    };
    for (let thread = 0; thread < 5; thread += 1) await endThread('require("node:fs").readFileSync("/proc/self/stat")');
    expect(isRunning(bound.pid ?? 0)).toBe(true);
    bound.signal('SIGTERM');
    expect(await bound.finished).toEqual({ kind: 'signal', signal: 'SIGTERM' });
    // Whatever has its number now hears nothing.
    bound.signal('SIGKILL');
    bound.killGroup();
  });
});

/** A zombie has ended; whether anybody has asked for its exit code yet is not its concern. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}
