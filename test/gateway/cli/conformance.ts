import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CHILD_MAIN, packFolder } from '../../child/support/child.ts';
import { packgate } from './output.ts';
import type { Outcome } from './output.ts';
import type { Io } from '../../../gateway/cli/command.ts';

/** The build whose programs are started. */
export const DIST = process.env.PACKGATE_TEST_DIST ?? resolve(import.meta.dirname, '..', '..', '..', 'dist');

const CHILDREN = resolve(import.meta.dirname, '..', '..', 'fixtures', 'children');

/** The conformance pack with an index that is built once. */
export interface BuiltConformance {
  /** `--pack` and `--index`. */
  readonly options: readonly string[];
  remove(): void;
}

export function buildConformance(): BuiltConformance {
  const folder = mkdtempSync(join(tmpdir(), 'packgate-conformance-'));
  const pack = packFolder('conformance-js');
  const index = join(folder, 'index.json');
  execFileSync(process.execPath, [CHILD_MAIN, 'index', '--pack-dir', pack, '--output', index], { stdio: 'pipe' });
  return {
    options: ['--pack', pack, '--index', index],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The command of our Node pack service. */
export const OUR_CHILD: readonly string[] = [process.execPath, CHILD_MAIN, 'serve'];

/** The same with a planted defect. */
export function mutant(defect: string): readonly string[] {
  return [process.execPath, join(CHILDREN, 'mutant.mjs'), defect, CHILD_MAIN, 'serve'];
}

/** What is no pack service; `mode` is how. */
export function unruly(mode: string): readonly string[] {
  return [process.execPath, join(CHILDREN, 'unruly.mjs'), mode];
}

export interface Check {
  readonly clause: string;
  readonly verdict: 'finding' | 'not-looked-at' | 'holds';
  readonly expected?: string;
  readonly came?: string;
  readonly reason?: string;
  /** Tools and checks of the pack that it called, or wanted to. */
  readonly needs: readonly string[];
}

export interface Report {
  readonly code: number;
  readonly stderr: string;
  readonly checks: readonly Check[];
  /** Clauses of the findings. */
  readonly findings: readonly string[];
}

/** Runs `packgate conform` in this process. */
export function conform(argv: readonly string[], io: Partial<Io> = {}): Promise<Outcome> {
  return packgate(['conform', ...argv], { env: { PATH: process.env.PATH }, cwd: tmpdir(), ...io });
}

/** The same, with its report read. */
export async function conformReport(argv: readonly string[], io: Partial<Io> = {}): Promise<Report> {
  const { code, stdout, stderr } = await conform(['--json', ...argv], io);
  if (!stdout.startsWith('{')) throw new Error(`no report, exit code ${code}: ${stderr}`);
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  const findings = checks.filter(({ verdict }) => verdict === 'finding').map(({ clause }) => clause);
  return { code, stderr, checks, findings };
}
