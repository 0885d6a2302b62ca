import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Backoff } from '../../../gateway/supervisor/backoff.ts';
import { LineSplitter } from '../../../gateway/supervisor/lines.ts';
import { StateDirInUse, lockStateDir } from '../../../gateway/supervisor/lock.ts';
import { portOwner } from '../../../gateway/supervisor/portOwner.ts';
import { startProcess } from '../../../gateway/supervisor/process.ts';
import { StderrReader } from '../../../gateway/supervisor/stderr.ts';

describe('the delay before the next start', () => {
  const settings = { minMs: 100, maxMs: 1000, healthyMs: 5000 };

  it('doubles with every failure in a row, up to its limit', () => {
    const backoff = new Backoff(settings, () => 0.5);
    expect([1, 2, 3, 4, 5, 6].map(() => backoff.startFailed())).toEqual([100, 200, 400, 800, 1000, 1000]);
  });

  it('is jittered by a fifth either way and never over its limit', () => {
    expect(new Backoff(settings, () => 0).startFailed()).toBe(80);
    expect(new Backoff(settings, () => 1).startFailed()).toBe(120);
    const backoff = new Backoff(settings, () => 1);
    for (let failure = 0; failure < 2000; failure += 1) expect(backoff.startFailed()).toBeLessThanOrEqual(1000);
  });

  it('is none for a first crash, and grows when a pack becomes ready and dies each time', () => {
    const backoff = new Backoff(settings, () => 0.5);
    const delays = [1, 2, 3].map(() => {
      backoff.wasReady(10);
      return backoff.crashed();
    });
    expect(delays).toEqual([0, 200, 400]);
  });

  it('is forgiven after enough time ready, however that ended', () => {
    const backoff = new Backoff(settings, () => 0.5);
    backoff.startFailed();
    backoff.startFailed();
    backoff.wasReady(5000);
    expect(backoff.crashed()).toBe(0);
  });
});

describe('cutting a stream into lines', () => {
  function linesOf(chunks: Buffer[]): [string, number][] {
    const lines: [string, number][] = [];
    const splitter = new LineSplitter((line, cutBytes) => lines.push([line.toString(), cutBytes]));
    for (const chunk of chunks) splitter.push(chunk);
    splitter.end();
    return lines;
  }

  it('gives the same lines however the bytes are cut', () => {
    const text = 'a\nzwölf\r\n\n{"kind":"x"}\nohne Ende ü';
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 60 }), (sizes) => {
        const bytes = Buffer.from(text);
        const chunks: Buffer[] = [];
        let at = 0;
        for (const size of [...sizes, bytes.length]) {
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(linesOf(chunks).map(([line]) => line)).toEqual(['a', 'zwölf', '', '{"kind":"x"}', 'ohne Ende ü']);
      }),
    );
  });

  it('cuts a giant line, says how much is missing, and keeps the next one intact', () => {
    const piece = Buffer.alloc(1_000_000, 'x');
    const lines = linesOf([piece, piece, Buffer.from('\nnext\n')]);
    expect(lines[0]?.[0]).toHaveLength(65_536);
    expect(lines[0]?.[1]).toBe(2_000_000 - 65_536);
    expect(lines[1]).toEqual(['next', 0]);
  });
});

describe("reading a service's stderr", () => {
  it('takes the first listening line with a port, in either form, and no other', () => {
    let heard = 0;
    const reader = new StderrReader(
      () => (heard += 1),
      () => true,
      () => undefined,
    );
    reader.push(
      Buffer.from('{"kind":"progress"}\n{not json\n{"kind":"listening","port":"80"}\n{"kind":"listening","port":0}\n'),
    );
    expect(reader.said.port).toBeUndefined();
    const record = {
      time: 't',
      level: 'info',
      subsystem: 'pack',
      message: 'm',
      event: 'listening',
      kind: 'listening',
      port: 8080,
    };
    reader.push(Buffer.from(`${JSON.stringify(record)}\n{"kind":"listening","port":9090}\n`));
    expect([reader.said.port, heard]).toEqual([8080, 1]);
  });

  it("keeps the problems of a boot-failed line, and does not take a handler's record for the service's", () => {
    const reader = new StderrReader(
      () => undefined,
      () => true,
      () => undefined,
    );
    const forged = {
      time: 't',
      level: 'info',
      subsystem: 'pack.tool',
      message: 'm',
      event: 'boot-failed',
      problems: ['forged'],
    };
    reader.push(Buffer.from(`${JSON.stringify(forged)}\n`));
    expect(reader.said.problems).toEqual([]);
    reader.push(Buffer.from('{"kind":"boot-failed","problems":["no such module x"]}\n'));
    expect(reader.said).toMatchObject({ problems: ['no such module x'], refusedConfig: false });
  });
});

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

describe('who listens on a port', () => {
  it('is the process that was started, a process of its group, someone else, or nobody', async () => {
    const script =
      'const s = require("net").createServer().listen(0, "127.0.0.1", () => console.log(s.address().port))';
    const direct = spawn(process.execPath, ['-e', script], { detached: true });
    const wrapped = spawn('sh', ['-c', `${process.execPath} -e '${script}'; true`], { detached: true });
    const ports = await Promise.all(
      [direct, wrapped].map(
        (child) =>
          new Promise<number>((resolve) =>
            child.stdout.once('data', (data: Buffer) => resolve(Number(data.toString()))),
          ),
      ),
    );
    const here = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => here.once('listening', resolve));
    const ownPort = (here.address() as AddressInfo).port;
    try {
      const [directPid, wrappedPid] = [direct.pid ?? 0, wrapped.pid ?? 0];
      expect(await portOwner(directPid, ports[0] ?? 0)).toBe('ours');
      expect(await portOwner(wrappedPid, ports[1] ?? 0)).toBe('ours');
      expect(await portOwner(directPid, ports[1] ?? 0)).toBe('foreign');
      expect(await portOwner(directPid, ownPort)).toBe('foreign');
      here.close();
      expect(await portOwner(directPid, ownPort)).toBe('nobody');
    } finally {
      for (const child of [direct, wrapped]) process.kill(-(child.pid ?? 0), 'SIGKILL');
    }
  });
});

describe('the lock of a state folder', () => {
  it('lets one gateway in, names its pid to the next, and is given back', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'packgate-lock-'));
    try {
      const unlock = await lockStateDir(folder);
      await expect(lockStateDir(folder)).rejects.toThrow(StateDirInUse);
      await expect(lockStateDir(folder)).rejects.toThrow(String(process.pid));
      await unlock();
      const again = await lockStateDir(folder);
      await again();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is taken over from a process that is gone, also when its pid is in use again, and from a broken file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'packgate-lock-'));
    const path = join(folder, 'gateway.lock');
    try {
      for (const text of [JSON.stringify({ pid: process.pid, startTime: '1', bootId: 'x' }), '{"pid":', '']) {
        await writeFile(path, text);
        const unlock = await lockStateDir(folder);
        expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid });
        await unlock();
      }
    } finally {
      await rm(folder, { recursive: true });
    }
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
