import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { runCommand } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { HELPERS, MISTAKES, WARNED } from './files.ts';
import type { Mistake } from './files.ts';

const CONFIG = `export default { pack: { id: 'acme', version: '1.0.0' } };\n`;
const MODULES = new URL('../../../node_modules', import.meta.url).pathname;

interface Told {
  readonly code: string;
  readonly message: string;
  readonly filePath: string;
}

/** Matches a text that has the words, one after the other. */
function inOrder(words: readonly string[]): RegExp {
  return new RegExp(words.map((word) => word.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('[^]*'));
}

describe('a pack in which every file has a mistake of its own', () => {
  let pack: Folder;
  let report: { fileErrors: Told[]; warnings: Told[]; counts: object };
  let stderr: string;
  let exitCode: number | null;

  beforeAll(async () => {
    const files = { ...HELPERS, ...contentsOf(MISTAKES), ...contentsOf(WARNED) };
    pack = makeFolder({ 'package.json': { type: 'module' }, 'kindgi.config.mjs': CONFIG, ...files });
    symlinkSync(MODULES, pack.file('node_modules'));
    const run = await runCommand(['index', '--pack-dir', pack.path, '--strict']);
    ({ code: exitCode, stderr } = run);
    report = JSON.parse(run.stdout) as typeof report;
  });
  afterAll(() => pack.remove());

  test.each(Object.entries(MISTAKES))('E19: %s is told once, with place, reason and remedy', (path, { code, told }) => {
    const errors = report.fileErrors.filter(({ filePath }) => filePath === path);
    expect(errors.map((error) => error.code)).toEqual([code]);
    expect(errors[0]?.message ?? '').toMatch(inOrder(told));
  });

  test.each(Object.entries(WARNED))('E19 F12: %s is indexed and warned of', (path, { code, told }) => {
    const warnings = report.warnings.filter(({ filePath }) => filePath === path);
    expect(warnings.map((warning) => warning.code)).toEqual([code]);
    expect(warnings[0]?.message ?? '').toMatch(inOrder(told));
  });

  test('E19: all of them are told at once, and nothing else; the rest of the pack is indexed', () => {
    expect(exitCode).toBe(1);
    const paths = (list: readonly Told[]): string[] => list.map(({ filePath }) => filePath);
    expect(paths(report.fileErrors)).toEqual(Object.keys(MISTAKES).sort());
    expect(paths(report.warnings)).toEqual(Object.keys(WARNED).sort());
    expect(report.counts).toEqual({ tools: 3, guardrails: 2, agents: 0, flows: 0 });
    const index = JSON.parse(readFileSync(pack.file('index.json'), 'utf8')) as { tools: { modulePath: string }[] };
    expect(index.tools.map(({ modulePath }) => modulePath)).toEqual([
      'tools/lenient.mjs',
      'tools/a-right-one.mjs',
      'tools/uncompilable.mjs',
    ]);
  });

  test('E19: people get a line for each on standard error, without paths of the machine', () => {
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(Object.keys(MISTAKES).length + Object.keys(WARNED).length);
    for (const line of lines)
      expect(line).toMatch(/^packgate-child index: (warning: )?[a-z-]+: (tools|guardrails|flows)\//);
    // Node itself names the package.json that makes a .js file a module.
    for (const line of lines.filter((text) => !text.includes('package.json'))) expect(line).not.toContain(pack.path);
  });
});

function contentsOf(files: Readonly<Record<string, Mistake>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, { contents }]) => [path, contents]));
}

describe('mistakes that leave no index', () => {
  let pack: Folder | undefined;
  afterEach(() => pack?.remove());

  /** The one line of an indexing that has to fail; no index is written. */
  async function lineOf(
    files: Readonly<Record<string, string | object>>,
    args: readonly string[] = [],
  ): Promise<string> {
    pack = makeFolder({ 'package.json': { type: 'module' }, ...files });
    const { code, stdout, stderr } = await runCommand(['index', '--pack-dir', pack.path, ...args], { cwd: pack.path });
    expect({ code, stdout, hasIndex: existsSync(pack.file('index.json')) }).toEqual({
      code: 1,
      stdout: '',
      hasIndex: false,
    });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    return stderr.replace('packgate-child index: ', '').trimEnd();
  }

  const RIGHT_TOOL = { 'tools/a-right-one.mjs': HELPERS['tools/a-right-one.mjs'] ?? '' };

  test('E21: no configuration', async () => {
    expect(await lineOf(RIGHT_TOOL)).toMatch(
      inOrder(['config-not-found: No kindgi.config.{ts,', 'write one: export default { pack:']),
    );
  });

  test('E21: a pyproject.toml without the table of a pack', async () => {
    const line = await lineOf({ ...RIGHT_TOOL, 'pyproject.toml': '[project]\nname = "x"\n' });
    expect(line).toMatch(inOrder(['config-not-found: ', 'pyproject.toml has no [tool.kindgi] table', 'write one']));
  });

  test('E21: two configurations', async () => {
    const line = await lineOf({ 'kindgi.config.mjs': CONFIG, 'kindgi.config.json': '{}' });
    expect(line).toMatch(inOrder(['config-invalid: ', 'kindgi.config.mjs and kindgi.config.json', 'remove one']));
  });

  test('E19: a syntax error in the configuration, with line and column', async () => {
    const line = await lineOf({ 'kindgi.config.mjs': `export default {\n  pack: { id: 'a' version: '1' },\n};\n` });
    expect(line).toBe(
      'config-parse-failed: Cannot load kindgi.config.mjs:2:19: SyntaxError: Expected "}" but found "version"',
    );
  });

  test('E19: a configuration that throws, with its line', async () => {
    const line = await lineOf({
      'kindgi.config.ts': `const id: string = '';\nif (id === '') throw new Error('ID is not set');\n`,
    });
    expect(line).toBe('config-parse-failed: Cannot load kindgi.config.ts:2:22: Error: ID is not set');
  });

  test('E19: a configuration that imports what is not there', async () => {
    const line = await lineOf({ 'kindgi.config.mjs': `import x from 'nobodys-config';\nexport default x;\n` });
    expect(line).toMatch(
      inOrder(['config-parse-failed: Cannot load kindgi.config.mjs:1: ', 'npm install nobodys-config']),
    );
  });

  test('E19: a configuration that exports nothing', async () => {
    const line = await lineOf({ 'kindgi.config.mjs': `const config = {};\n` });
    expect(line).toMatch(inOrder(['config-parse-failed: kindgi.config.mjs exports no object as default', 'write one']));
  });

  test('E19 E22 E2: several mistakes in one configuration are told at once', async () => {
    const config = `{ pack: { id: '', version: 2 }, discovery: { tools: [] }, env: { required: ['1X', 'KINDGI_Y', 'Z'], optional: ['Z'] } }`;
    expect(await lineOf({ 'kindgi.config.mjs': `export default ${config};\n` })).toMatch(
      inOrder([
        'config-parse-failed: kindgi.config.mjs: ',
        'expected `pack.id` to be a non-empty text, got ""',
        'expected `pack.version` to be a non-empty text, got 2',
        'expected `discovery.tools` to be a non-empty text, got []',
        'expected `env.required` to hold names of letters, digits and `_`, got "1X"',
        "names with KINDGI_ are the service's own: KINDGI_Y",
        'Z cannot be required and optional',
      ]),
    );
  });

  test('E21: a pack of another language', async () => {
    const line = await lineOf({ 'pyproject.toml': '[tool.kindgi.pack]\nid = "p"\nversion = "1"\n' });
    expect(line).toMatch(inOrder(['language-mismatch: pyproject.toml is not of a Node pack', 'python']));
  });

  test('E19 E23: nothing to index', async () => {
    const line = await lineOf({ 'kindgi.config.mjs': CONFIG, 'tool/a.mjs': '', 'tools/_helper.mjs': '' });
    expect(line).toMatch(
      inOrder(['discovery-empty: ', 'looked for tools/**/*.{ts,js,mjs}', 'say in `discovery` where they are']),
    );
  });

  test('E14: an output that cannot be written', async () => {
    const files = { 'kindgi.config.mjs': CONFIG, ...RIGHT_TOOL, file: '' };
    expect(await lineOf(files, ['--output', 'file/index.json'])).toMatch(
      inOrder(['output-write-failed: Cannot write ', 'file/index.json']),
    );
  });

  test('E15: a time that is none', async () => {
    const files = { 'kindgi.config.mjs': CONFIG, ...RIGHT_TOOL };
    expect(await lineOf(files, ['--published-at', 'yesterday'])).toMatch(
      inOrder(['manifest-validation-failed: ', '/publishedAt', 'date-time']),
    );
  });

  test('E19: a folder that is not there', async () => {
    const line = await lineOf({}, ['--pack-dir', 'nowhere']);
    expect(line).toMatch(inOrder(['config-not-found: There is no folder ', 'nowhere']));
  });
});
