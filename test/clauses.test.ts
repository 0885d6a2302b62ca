import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const PROGRAM = resolve(import.meta.dirname, '..', '.ci', 'clauses.mjs');

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm run clauses` over a folder; over this project where none is named. */
function clauses(...args: readonly string[]): Promise<Run> {
  return new Promise((done) => {
    execFile(process.execPath, [PROGRAM, ...args], (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** A clause's number, put together here so that this file names none itself. */
const number = (group: string, at: number): string => `${group}${at}`;

describe('the list of clauses', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'packgate-clauses-'));
    mkdirSync(join(folder, 'test'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const withTest = (name: string): Promise<Run> => {
    writeFileSync(join(folder, 'test', 'some.test.ts'), `test('${name}: it holds', () => {});\n`);
    return clauses(folder);
  };

  it('has a test or a reason for every clause of this project', async () => {
    const { code, stdout, stderr } = await clauses();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const ids = [...stdout.matchAll(/^([A-F]\d+a?) /gm)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const last = { A: 45, B: 12, C: 38, D: 48, E: 27, F: 18 };
    for (const [group, count] of Object.entries(last)) {
      for (let at = 1; at <= count; at += 1) expect(ids).toContain(number(group, at));
    }
    expect(stdout).toMatch(/\n\d+ clauses: \d+ tested, \d+ not yet\n$/);
  });

  it('fails for a clause that is neither tested nor explained', async () => {
    const { code, stdout, stderr } = await clauses(folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^E14 .* not yet: NO REASON GIVEN$/m);
    expect(stderr).toMatch(/E14 .* is not tested and has no reason/);
  });

  it('shows in which file a clause is tested, alone, among others or in a range', async () => {
    const { stdout } = await withTest(`${number('E', 14)}, ${number('F', 3)} ${number('D', 36)}–${number('D', 38)}`);
    for (const id of ['E14', 'F3', 'D36', 'D37', 'D38']) {
      expect(stdout).toMatch(new RegExp(`^${id} .* test/some\\.test\\.ts$`, 'm'));
    }
    expect(stdout).not.toMatch(/^D39 .* test\/some\.test\.ts$/m);
  });

  it('fails for a test that names a clause that does not exist', async () => {
    const { stderr } = await withTest(number('B', 99));
    expect(stderr).toContain('B99 is no clause, but named in test/some.test.ts');
  });

  it('fails for a reason that is stale', async () => {
    const { stderr } = await withTest(number('F', 17));
    expect(stderr).toContain('F17 is tested, so its reason');
  });
});
