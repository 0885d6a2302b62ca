import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import type { Configuration } from '../../../gateway/config/configuration.ts';
import { load } from '../../../gateway/config/load.ts';
import type { Loaded } from '../../../gateway/config/load.ts';
import { problemText, warningText } from '../../../gateway/config/problem.ts';

export const TENANT_A = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
export const TENANT_B = '8d1c6c0e-0d3f-4c52-9c52-6a1f8f6f2b10';
export const TOKEN = 'a-token-of-enough-characters';

/** Environment of the gateway in these tests. */
export const HOST_ENV = { TOKEN, OTHER_TOKEN: `${TOKEN}-2`, EMPTY: '', PATH: process.env.PATH };

const folders: string[] = [];

/** A folder with these files (text by relative path) and two Node packs, gone after the test file. */
export function makeFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'packgate-config-'));
  folders.push(folder);
  const packs = { 'packs/a/kindgi.config.ts': '', 'packs/b/kindgi.config.mjs': '' };
  for (const [name, text] of Object.entries({ ...packs, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Loads `yaml` as the `packgate.yaml` of a folder with these files. */
export async function loadYaml(
  yaml: string,
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string | undefined>> = HOST_ENV,
): Promise<Loaded> {
  return load('packgate.yaml', { env, cwd: makeFolder({ ...files, 'packgate.yaml': yaml }) });
}

/** The texts of the problems, in their order; none where the configuration is good. */
export async function problemsOf(...args: Parameters<typeof loadYaml>): Promise<string[]> {
  const loaded = await loadYaml(...args);
  return 'problems' in loaded ? loaded.problems.map(problemText) : [];
}

export async function warningsOf(...args: Parameters<typeof loadYaml>): Promise<string[]> {
  const loaded = await loadYaml(...args);
  if ('problems' in loaded) throw new Error(loaded.problems.map(problemText).join('\n'));
  return loaded.warnings.map(warningText);
}

/** The configuration, which must be good. */
export async function configurationOf(...args: Parameters<typeof loadYaml>): Promise<Configuration> {
  const loaded = await loadYaml(...args);
  if ('problems' in loaded) throw new Error(loaded.problems.map(problemText).join('\n'));
  return loaded.configuration;
}

/** A configuration that is good, with `lines` for tenant A, whose pack is `packs/a`. */
export function withTenant(...lines: readonly string[]): string {
  return [
    'tokens: [{ env: TOKEN }]',
    'tenants:',
    `  ${TENANT_A}:`,
    '    pack: packs/a',
    ...lines.map((line) => `    ${line}`),
  ].join('\n');
}
