import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { startProcess } from '../../../gateway/supervisor/process.ts';

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

/** A zombie has ended; whether anybody has asked for its exit code yet is not its concern. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}
