import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MARK_NAME, marksFolder } from '../../../gateway/supervisor/mark.ts';
import { Watchdog } from '../../../gateway/supervisor/watchdog.ts';
import { temporaryFolder, until } from '../../support/files.ts';
import {
  childrenOf,
  commandLineOf,
  environmentOf,
  killProcess,
  processesMentioning,
  processesOfGroup,
} from '../../support/processes.ts';

const SILENT = { onStdout: () => undefined, onStderr: () => undefined };

async function openWatchdog(options: { path?: string | undefined; stateDir?: string } = {}) {
  const { path = process.env.PATH, stateDir = temporaryFolder() } = options;
  const records: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line) => records.push(JSON.parse(line) as (typeof records)[0]) });
  const watchdog = new Watchdog({ path, stateDir, log });
  onTestFinished(() => watchdog.close());
  await watchdog.open();
  return { watchdog, stateDir, records };
}

function sleeper(folder: string) {
  const env = { PATH: process.env.PATH ?? '', HOME: folder };
  return { command: 'sh', args: ['-c', 'sleep 300; true', folder], cwd: folder, env };
}

/** By the mask of ignored signals, in which SIGTERM is the fifteenth bit. */
function ignoresSigterm(pid: number): boolean {
  const mask = /^SigIgn:\s+([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return (BigInt(`0x${mask}`) & (1n << 14n)) !== 0n;
}

describe('the watchdog', () => {
  it('marks what it launches, otherwise with exactly the given environment, number and group', async () => {
    const { watchdog, stateDir } = await openWatchdog();
    const launched = watchdog.launch(sleeper(stateDir), SILENT);
    const pid = launched.pid ?? 0;
    await until('the program runs', () => commandLineOf(pid)[0] === 'sh');
    const [mark = ''] = readdirSync(marksFolder(stateDir));
    expect(environmentOf(pid).toSorted()).toEqual(
      [`HOME=${stateDir}`, `${MARK_NAME}=${mark}`, `PATH=${process.env.PATH ?? ''}`].toSorted(),
    );
    expect(processesOfGroup(pid)).toContain(pid);
    launched.killGroup();
    expect(await launched.finished).toEqual({ kind: 'signal', signal: 'SIGKILL' });
  });

  it('is not ended by the signals that end a service, and ends what has left its group at its close', async () => {
    const { watchdog, stateDir, records } = await openWatchdog();
    const shell = childrenOf(process.pid).find((pid) => commandLineOf(pid).includes('packgate-watchdog')) ?? 0;
    await until('it has begun', () => ignoresSigterm(shell), 5_000);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(shell, signal);
    const script = 'setsid sh -c "sleep 300; true" "$0" & sleep 0.1';
    const launched = watchdog.launch({ ...sleeper(stateDir), args: ['-c', script, stateDir] }, SILENT);
    await launched.finished;
    expect(processesMentioning(stateDir)).toHaveLength(1);
    await watchdog.close();
    await until('it is gone', () => processesMentioning(stateDir).length === 0, 2_000);
    expect(records).toEqual([]);
    expect(readdirSync(marksFolder(stateDir))).toEqual([]);
  });

  it('that cannot be started is said once and tried again; launches go on', async () => {
    const bin = temporaryFolder();
    const { watchdog, stateDir, records } = await openWatchdog({ path: bin });
    const launched = watchdog.launch(sleeper(stateDir), SILENT);
    await until('it is said', () => records.some(({ event }) => event === 'watchdog-ended'));
    expect(records.find(({ event }) => event === 'no-tether')).toMatchObject({ level: 30 });
    // Said once, however often it fails; then a shell appears, and a watchdog with it.
    const shells = (): number[] =>
      childrenOf(process.pid).filter((pid) => commandLineOf(pid).includes('packgate-watchdog'));
    expect(shells()).toEqual([]);
    writeFileSync(join(bin, 'sh'), '#!/bin/sh\nPATH=/bin:/usr/bin exec /bin/sh "$@"\n', { mode: 0o755 });
    const [shell = 0] = await until('a watchdog', () => shells().length === 1 && shells(), 3_000);
    expect(records.filter(({ event }) => event === 'watchdog-ended')).toHaveLength(1);
    killProcess(shell);
    await until('its end is said', () => records.filter(({ event }) => event === 'watchdog-ended').length === 2);
    launched.killGroup();
    expect((await launched.finished).kind).toBe('signal');
  });

  it('whose mark cannot be noted says so and goes on', async () => {
    const stateDir = temporaryFolder();
    writeFileSync(marksFolder(stateDir), 'no folder');
    const { watchdog, records } = await openWatchdog({ stateDir });
    expect(records).toMatchObject([{ level: 40, event: 'mark-not-noted' }]);
    const launched = watchdog.launch({ ...sleeper(stateDir), args: ['-c', 'exit 3'] }, SILENT);
    expect(await launched.finished).toEqual({ kind: 'code', code: 3 });
    await watchdog.close();
    expect(existsSync(marksFolder(stateDir))).toBe(true);
  });
});
