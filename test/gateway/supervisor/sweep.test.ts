import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMark, forgetMark, MARK_NAME, marksFolder, noteMark } from '../../../gateway/supervisor/mark.ts';
import { startProcess } from '../../../gateway/supervisor/process.ts';
import { sweepLeftovers } from '../../../gateway/supervisor/sweep.ts';
import { temporaryFolder, until } from '../../support/files.ts';
import { environmentOf, killProcess, processesOfGroup } from '../../support/processes.ts';

const SILENT = { onStdout: () => undefined, onStderr: () => undefined };
const PATH = process.env.PATH ?? '';

/** A shell that leads a group and runs the script; ended with the test. */
async function start(script: string, env: Readonly<Record<string, string>>, members: number): Promise<number> {
  const started = startProcess({ command: 'sh', args: ['-c', script], cwd: '/', env: { PATH, ...env } }, SILENT);
  const group = started.pid ?? 0;
  onTestFinished(async () => {
    started.killGroup();
    await started.finished;
  });
  await until(`${members} processes`, () => processesOfGroup(group).length === members);
  return group;
}

/** Runs a sweep and returns what it logged. */
async function sweep(stateDir: string): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  await sweepLeftovers(stateDir, pino({}, { write: (line) => records.push(JSON.parse(line) as (typeof records)[0]) }));
  return records;
}

describe('the sweep of what an earlier gateway left behind', () => {
  it('ends what bears its mark and the groups that such processes lead, says so, and forgets the mark', async () => {
    const stateDir = temporaryFolder();
    const mark = createMark();
    noteMark(stateDir, mark);
    const tenant = { KINDGI_PACK_TENANT_ID: 'a-tenant', [MARK_NAME]: mark };
    const cleared = 'env -i sleep 300 & wait';
    const whole = await start(cleared, tenant, 2);
    const [record, ...others] = await sweep(stateDir);
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      event: 'leftovers-ended',
      processes: [{ pid: whole, tenant: 'a-tenant', command: 'sh' }],
    });
    expect(processesOfGroup(whole)).toEqual([]);
    expect(readdirSync(marksFolder(stateDir))).toEqual([]);
    expect(await sweep(stateDir)).toEqual([]);
  });

  it('of a group whose leader has gone it ends the members that bear the mark, and no other', async () => {
    const stateDir = temporaryFolder();
    const mark = createMark();
    noteMark(stateDir, mark);
    let printed = '';
    // In a session of its own, as what leaves the group of its pack is.
    const orphans = "setsid sh -c 'sleep 300 & env -i sleep 300 & echo $$'";
    const started = startProcess(
      { command: 'sh', args: ['-c', orphans], cwd: '/', env: { PATH, [MARK_NAME]: mark } },
      { ...SILENT, onStdout: (chunk) => (printed += chunk.toString()) },
    );
    await started.finished;
    const group = Number(printed);
    onTestFinished(() => processesOfGroup(group).forEach(killProcess));
    const bears = (pid: number): boolean => environmentOf(pid).includes(`${MARK_NAME}=${mark}`);
    const members = await until('one with the mark and one without', () => {
      const pids = processesOfGroup(group);
      return pids.length === 2 && pids.filter(bears).length === 1 && pids;
    });
    const [record] = await sweep(stateDir);
    expect(record).toMatchObject({ event: 'leftovers-ended', processes: [{ command: 'sleep' }] });
    expect(processesOfGroup(group)).toHaveLength(1);
    expect(members).toContain(processesOfGroup(group)[0]);
  });

  it('leaves alone what bears no mark, or another, whatever stands in the state folder', async () => {
    const stateDir = temporaryFolder();
    const ours = createMark();
    const survivors = [
      await start('sleep 300 & wait', {}, 2),
      await start('sleep 300 & wait', { [MARK_NAME]: ours }, 2),
    ];
    mkdirSync(marksFolder(stateDir), { recursive: true });
    const forged = [
      '',
      ours.slice(0, -1),
      `${ours}0`,
      ours.toUpperCase(),
      'PATH',
      '1',
      '0',
      `${MARK_NAME}=${ours}`,
      '.*',
    ];
    for (const name of forged) writeFileSync(join(marksFolder(stateDir), `${name || 'empty'}`), ours);
    mkdirSync(join(marksFolder(stateDir), createMark()));
    expect(await sweep(stateDir)).toEqual([]);
    for (const group of survivors) expect(processesOfGroup(group)).toHaveLength(2);
  });

  it('does nothing in a new state folder, nor where the folder of marks is a file', async () => {
    const stateDir = temporaryFolder();
    expect(await sweep(stateDir)).toEqual([]);
    writeFileSync(marksFolder(stateDir), '');
    expect(await sweep(stateDir)).toEqual([]);
    forgetMark(stateDir, createMark());
    expect(() => noteMark(stateDir, createMark())).toThrow(/ENOTDIR|EEXIST/);
  });
});
