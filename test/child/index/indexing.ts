import { readFileSync, symlinkSync } from 'node:fs';

import { runCommand } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';

export type Entry = Readonly<Record<string, unknown>> & { readonly id: string };

export interface Told {
  readonly code: string;
  readonly message: string;
  readonly filePath: string;
  readonly field?: string;
}

export interface Indexing {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly fileErrors: readonly Told[];
  readonly warnings: readonly Told[];
}

export const PINNED = ['--artifact-version', '20260101.1', '--published-at', '2026-01-01T00:00:00.000Z'] as const;

/** A pack `acme` in a temporary folder, as ES modules. */
export function newPack(files: Readonly<Record<string, string | object>> = {}): Folder {
  const config = `export default { pack: { id: 'acme', version: '1.0.0' } };`;
  return makeFolder({ 'package.json': { type: 'module' }, 'kindgi.config.mjs': config, ...files });
}

/** Lets the files of a pack import what this project has installed. */
export function linkPackages(pack: Folder): void {
  symlinkSync(new URL('../../../node_modules', import.meta.url).pathname, pack.file('node_modules'));
}

/** A module with a tool whose fields are given as source text. */
export function toolModule(id: string, fields = `input: { type: 'object' }, output: {}`): string {
  return `export default { id: '${id}', handler: () => 1, ${fields} };\n`;
}

/** A module with a guardrail whose further fields are given as source text. */
export function guardrailModule(id: string, fields = ''): string {
  return `export default { id: '${id}', kind: 'deterministic', action: { 'on-violation': 'block' }, ${fields} };\n`;
}

/** Indexes a pack into its `index.json`. */
export async function indexPack(pack: Folder, ...args: readonly string[]): Promise<Indexing> {
  const result = await runCommand(['index', '--pack-dir', pack.path, ...args]);
  const report = JSON.parse(result.stdout.startsWith('{') ? result.stdout : '{}') as Partial<Indexing>;
  return { ...result, fileErrors: report.fileErrors ?? [], warnings: report.warnings ?? [] };
}

export function readIndex(
  pack: Folder,
): Readonly<Record<'tools' | 'guardrails' | 'agents' | 'flows', readonly Entry[]>> {
  return JSON.parse(readFileSync(pack.file('index.json'), 'utf8')) as ReturnType<typeof readIndex>;
}
