import { existsSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { validate } from '../../../shared/protocol/validate.ts';
import { packFolder, runCommand } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';

const CONFIG = `export default { pack: { id: 'acme', version: '1.0.0' } };`;
const PINNED = ['--artifact-version', '20260101.1', '--published-at', '2026-01-01T00:00:00.000Z'];

let folder: Folder;

beforeEach(() => {
  folder = makeFolder({ 'package.json': { type: 'module' }, 'kindgi.config.mjs': CONFIG });
});

afterEach(() => folder.remove());

type Entry = Readonly<Record<string, unknown>> & { readonly id: string; readonly modulePath: string };

interface Report extends Readonly<Record<string, unknown>> {
  readonly artifactVersion: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly fileErrors: readonly {
    readonly code: string;
    readonly message: string;
    readonly filePath: string;
    readonly field?: string;
  }[];
}

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What was printed, where it is JSON. */
  readonly report: Report;
}

async function run(...args: string[]): Promise<Run> {
  const result = await runCommand(['index', '--pack-dir', folder.path, ...args]);
  return { ...result, report: JSON.parse(result.stdout.startsWith('{') ? result.stdout : '{}') as Report };
}

function readIndex(
  name = 'index.json',
): Readonly<Record<'tools' | 'guardrails' | 'flows', readonly Entry[]>> & { env?: unknown } {
  return JSON.parse(readFileSync(folder.file(name), 'utf8')) as ReturnType<typeof readIndex>;
}

const tool = (id: string, more = ''): string =>
  `export default { id: '${id}', input: { type: 'object' }, output: {}, handler: () => 1, ${more} };`;

describe('the command', () => {
  test('E17: writes the index and reports what is in it', async () => {
    folder.write('tools/b.mjs', tool('acme.b', `version: '1.0.0'`));
    folder.write('tools/deep/er/a.js', tool('acme.a'));
    const { code, report, stderr } = await run(...PINNED);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(report).toEqual({
      packId: 'acme',
      packVersion: '1.0.0',
      artifactVersion: '20260101.1',
      publishedAt: '2026-01-01T00:00:00.000Z',
      counts: { tools: 2, guardrails: 0, agents: 0, flows: 0 },
      outputPath: folder.file('index.json'),
      fileErrors: [],
      warnings: [],
    });
    expect(readIndex().tools.map(({ id, modulePath }) => [id, modulePath])).toEqual([
      ['acme.a', 'tools/deep/er/a.js'],
      ['acme.b', 'tools/b.mjs'],
    ]);
    expect(validate('index', readIndex())).toEqual([]);
  });

  test('E.3 E18: wrong usage is exit 2, --help and --version are exit 0', async () => {
    for (const args of [['index'], ['index', '--nope'], ['index', '--pack-dir', '.', '--module-root', '.']]) {
      const { code, stderr } = await runCommand(args);
      expect(code).toBe(2);
      expect(stderr).toContain('packgate-child index');
    }
    expect(await runCommand(['index', '--help'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('--pack-dir'),
    });
    expect(await runCommand(['index', '-v'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    expect(await runCommand([])).toMatchObject({ code: 2, stderr: expect.stringContaining('packgate-child serve') });
  });

  test('E.3 E18 E19: a file error is exit 0, exit 1 with --strict, and the rest is indexed either way', async () => {
    folder.write('tools/good.mjs', tool('acme.good'));
    folder.write('tools/bad.mjs', 'export const x = 1;');
    for (const [args, expected] of [
      [[], 0],
      [['--strict'], 1],
    ] as const) {
      const { code, report } = await run(...args);
      expect(code).toBe(expected);
      expect(report.fileErrors).toEqual([
        { code: 'no-default-export', message: expect.stringContaining('tools/bad.mjs'), filePath: 'tools/bad.mjs' },
      ]);
      expect(readIndex().tools).toHaveLength(1);
    }
  });

  test('E.3 E18: --json is one line, for success and for failure', async () => {
    folder.write('tools/a.mjs', tool('acme.a'));
    const ok = await run('--json');
    expect(ok.stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(ok.report).toMatchObject({ kind: 'ok', value: { packId: 'acme' } });
    folder.write('kindgi.config.mjs', 'export default {};');
    const failed = await run('--json');
    expect(failed).toMatchObject({ code: 1, stderr: '' });
    expect(failed.report).toEqual({
      kind: 'err',
      error: { code: 'config-parse-failed', message: expect.any(String), filePath: 'kindgi.config.mjs', field: 'pack' },
    });
  });

  test('E14: the file is written whole, parents are made, nothing temporary is left', async () => {
    folder.write('tools/a.mjs', tool('acme.a'));
    expect((await run('--output', folder.file('dist/deep/out.json'))).code).toBe(0);
    expect(readdirSync(folder.file('dist/deep'))).toEqual(['out.json']);
  });

  test('E14: a place that cannot be written is a pack error', async () => {
    folder.write('tools/a.mjs', tool('acme.a'));
    folder.write('file', '');
    const { code, stderr } = await run('--output', folder.file('file/out.json'));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^packgate-child index: output-write-failed: .*file\/out\.json/);
  });

  test('E14: of a write that fails at its end nothing is left', async () => {
    folder.write('tools/a.mjs', tool('acme.a'));
    folder.write('taken/index.json/file', '');
    const { code, stderr } = await run('--output', folder.file('taken/index.json'));
    expect({ code, files: readdirSync(folder.file('taken')) }).toEqual({ code: 1, files: ['index.json'] });
    expect(stderr).toContain('output-write-failed');
  });

  test('E16: the artifact version counts up within the day', async () => {
    folder.write('tools/a.mjs', tool('acme.a'));
    const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
    expect((await run()).report.artifactVersion).toBe(`${today}.1`);
    expect((await run()).report.artifactVersion).toBe(`${today}.2`);
    folder.write('index.json', { artifactVersion: '20200101.9' });
    expect((await run()).report.artifactVersion).toBe(`${today}.1`);
    expect((await run()).report.publishedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('E15: an index that would not be valid is not written', async () => {
    folder.write('tools/a.mjs', tool('acme.a'));
    for (const args of [
      ['--artifact-version', ''],
      ['--published-at', 'soon'],
    ]) {
      const { code, stderr } = await run(...args);
      expect(code).toBe(1);
      expect(stderr).toContain('manifest-validation-failed');
      expect(existsSync(folder.file('index.json'))).toBe(false);
    }
  });

  test('E10 E13: the same source gives the same canonical bytes', async () => {
    folder.write(
      'tools/a.mjs',
      tool('acme.a', `description: 'ü\\u2028', needsSpec: { z: -0, a: 1e21, '10': {}, '9': [] }`),
    );
    await run(...PINNED);
    const text = readFileSync(folder.file('index.json'), 'utf8');
    await run(...PINNED, '--output', folder.file('again.json'));
    expect(readFileSync(folder.file('again.json'), 'utf8')).toBe(text);
    expect(text).toContain(
      '"needsSpec": {\n        "9": [],\n        "10": {},\n        "a": 1e+21,\n        "z": 0\n      }',
    );
    expect(text).toContain('"description": "ü\u2028"');
    expect(text.endsWith('\n}\n')).toBe(true);
    expect(text).not.toContain(folder.path);
  });

  test('F16: a bundle map says what is loaded, the index keeps the source', async () => {
    folder.write('tools/a.ts', 'this is not loaded');
    folder.write('built/a.mjs', tool('acme.built'));
    const map = folder.write('map.json', { 'tools/a.ts': 'a.mjs' });
    const { code } = await run('--bundle-map', map, '--module-root', folder.file('built'), '--strict');
    expect(code).toBe(0);
    expect(readIndex().tools).toMatchObject([{ id: 'acme.built', modulePath: 'tools/a.ts' }]);
    expect((await run('--bundle-map', folder.write('map.json', '[]'))).code).toBe(2);
  });
});

describe('the configuration', () => {
  const failure = async (): Promise<string> => {
    const { code, stderr } = await run();
    expect(code).toBe(1);
    expect(existsSync(folder.file('index.json'))).toBe(false);
    return stderr;
  };

  beforeEach(() => {
    folder.write('tools/a.mjs', tool('acme.a'));
  });

  test('E21: kindgi.config.ts comes before the others', async () => {
    folder.write('kindgi.config.ts', `const id: string = 'typed'; export default { pack: { id, version: '1' } };`);
    expect((await run()).report.packId).toBe('typed');
  });

  test('E21: the others are taken in their order, and --config names any file', async () => {
    for (const [name, text] of [
      ['kindgi.config.cjs', `module.exports = { pack: { id: 'cjs', version: '1' } };`],
      ['kindgi.config.js', `export default { pack: { id: 'js', version: '1' } };`],
      ['kindgi.config.mjs', `export default { pack: { id: 'mjs', version: '1' } };`],
      ['kindgi.config.mts', `export default { pack: { id: 'mts' as string, version: '1' } };`],
    ] as const) {
      rmSync(folder.file('kindgi.config.mjs'), { force: true });
      folder.write(name, text);
      expect((await run()).report.packId).toBe(name.replace('kindgi.config.', ''));
    }
    expect((await run('--config', folder.file('kindgi.config.cjs'))).report.packId).toBe('cjs');
  });

  test('E21: a pyproject table of another language is no Node pack', async () => {
    const pack = makeFolder({ 'pyproject.toml': '[tool.kindgi.pack]\nid = "p"\nversion = "1"\n' });
    const { code, stderr } = await runCommand(['index', '--pack-dir', pack.path]);
    pack.remove();
    expect(code).toBe(1);
    expect(stderr).toContain('language-mismatch');
  });

  test.each([
    ['no default export', 'export const x = 1;', 'config-parse-failed'],
    ['a syntax error', 'export default {', 'config-parse-failed'],
    ['no pack', 'export default {};', 'config-parse-failed'],
    ['an empty version', `export default { pack: { id: 'a', version: '' } };`, 'config-parse-failed'],
    ['a bad language', `export default { language: 'go', pack: { id: 'a', version: '1' } };`, 'config-parse-failed'],
    [
      'another language',
      `export default { language: 'python', pack: { id: 'a', version: '1' } };`,
      'language-mismatch',
    ],
    [
      'bad discovery',
      `export default { discovery: { tools: 1 }, pack: { id: 'a', version: '1' } };`,
      'config-parse-failed',
    ],
  ])('E19: a configuration with %s', async (_name, contents, code) => {
    folder.write('kindgi.config.mjs', contents);
    expect(await failure()).toMatch(new RegExp(`^packgate-child index: ${code}: .*kindgi\\.config\\.mjs`));
  });

  test('E19 E2: all problems of env are told at once', async () => {
    const env = `{ required: ['A', 'A', 'B', '1x', 'KINDGI_X'], optional: ['B'] }`;
    folder.write('kindgi.config.mjs', `export default { env: ${env}, pack: { id: 'a', version: '1' } };`);
    const text = await failure();
    expect(text).toContain('config-invalid');
    for (const part of ['A twice', '1x', 'KINDGI_X', 'B cannot be required and optional']) expect(text).toContain(part);
  });

  test('E2: declared names are sorted, and absent when there is none', async () => {
    const env = `{ required: ['Z', 'A'], optional: ['Y', 'B'] }`;
    folder.write('kindgi.config.mjs', `export default { env: ${env}, pack: { id: 'a', version: '1' } };`);
    await run();
    expect(readIndex().env).toEqual({ optional: ['B', 'Y'], required: ['A', 'Z'] });
    folder.write('kindgi.config.mjs', `export default { env: { required: [] }, pack: { id: 'a', version: '1' } };`);
    await run();
    expect(readIndex()).not.toHaveProperty('env');
  });

  test('E21: two configurations are one too many, none is told as such', async () => {
    folder.write('kindgi.config.json', '{}');
    expect(await failure()).toContain('config-invalid');
    const empty = makeFolder();
    expect((await runCommand(['index', '--pack-dir', empty.path])).stderr).toContain('config-not-found');
    expect((await runCommand(['index', '--pack-dir', empty.file('no')])).stderr).toContain('config-not-found');
    empty.remove();
  });

  test('E19: a pack without a file is discovery-empty', async () => {
    const empty = makeFolder({ 'kindgi.config.mjs': CONFIG });
    expect(await runCommand(['index', '--pack-dir', empty.path])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('discovery-empty'),
    });
    empty.remove();
  });
});

describe('discovery', () => {
  test('E23 E25 E26: hidden files, packages, links, tests, types and helpers are skipped', async () => {
    folder.write('tools/a.mjs', tool('acme.a'));
    const skipped = [
      'tools/.hidden.mjs',
      'tools/.git/x.mjs',
      'tools/node_modules/x.mjs',
      'tools/a.test.mjs',
      'tools/a.spec.ts',
      'tools/types.d.ts',
      'tools/_helper.mjs',
      'tools/_lib/x.mjs',
      'tools/x.cjs',
      'tools/x.mts',
    ];
    for (const path of skipped) folder.write(path, 'throw new Error("loaded")');
    symlinkSync(folder.file('tools/a.mjs'), folder.file('tools/link.mjs'));
    folder.write('elsewhere/x.mjs', 'throw new Error("loaded")');
    symlinkSync(folder.file('elsewhere'), folder.file('tools/linked'));
    const { report } = await run();
    expect(report).toMatchObject({ counts: { tools: 1 }, fileErrors: [] });
  });

  test('E24: own patterns find files anywhere and their kind is told by what they are', async () => {
    folder.write(
      'kindgi.config.mjs',
      `export default { pack: { id: 'acme', version: '1' }, discovery: { tools: './src/{one,two}/**/*.mjs' } };`,
    );
    folder.write('src/one/a.mjs', tool('acme.a'));
    folder.write(
      'src/two/x/agent.mjs',
      `export default { id: 'acme.agent', version: '1.0.0', name: 'A', instructions: 'i', capabilities: [], tools: [] };`,
    );
    folder.write('src/three/b.mjs', tool('acme.b'));
    folder.write('tools/c.mjs', tool('acme.c'));
    const { report } = await run();
    expect(report).toMatchObject({ counts: { tools: 1, agents: 1 }, fileErrors: [] });
  });
});

describe('files', () => {
  const errors = async (): Promise<Report['fileErrors']> => (await run()).report.fileErrors;

  beforeEach(() => {
    folder.write('tools/ok.mjs', tool('acme.ok'));
  });

  test.each([
    ['throws', 'throw new Error("no table")', 'file-import-failed', 'no table'],
    ['does not parse', '\nexport default {', 'file-import-failed', 'tools/x.mjs:2:'],
    ['never settles', 'await new Promise(() => {})', 'file-import-failed', 'never settles'],
    ['exports no default', 'export const a = 1', 'no-default-export', 'default'],
    ['exports a function', 'export default () => 1', 'ambiguous-kind', 'function'],
    ['exports no primitive', 'export default { a: 1 }', 'ambiguous-kind', '`handler` and `input`'],
    ['is of another kind', `export default { id: 'f', version: '1', nodes: [], edges: [] }`, 'kind-mismatch', 'flows/'],
    [
      'is a failed Result',
      `export default { kind: 'err', error: { message: 'bad tool' } }`,
      'manifest-validation-failed',
      'bad tool',
    ],
    ['has no id', 'export default { input: {}, output: {}, handler() {} }', 'manifest-validation-failed', "'id'"],
    ['has no output', `export default { id: 'x', input: {}, handler() {} }`, 'manifest-validation-failed', "'output'"],
    [
      'has a bad field',
      `export default { id: 'x', mutating: 'yes', input: {}, output: {}, handler() {} }`,
      'manifest-validation-failed',
      '/mutating',
    ],
  ])('E19: a tool that %s', async (_name, contents, code, part) => {
    folder.write('tools/x.mjs', contents);
    expect(await errors()).toEqual([
      expect.objectContaining({ code, filePath: 'tools/x.mjs', message: expect.stringContaining(part) }),
    ]);
    expect(readIndex().tools).toHaveLength(1);
  });

  test('E20: of duplicates the first in path order stays', async () => {
    folder.write('tools/v1.mjs', tool('acme.v', `version: '1'`));
    folder.write('tools/v1again.mjs', tool('acme.v', `version: '1'`));
    folder.write('tools/v2.mjs', tool('acme.v', `version: '2'`));
    folder.write('tools/vx.mjs', tool('acme.v'));
    const found = await errors();
    expect(found.map(({ code, filePath }) => [code, filePath])).toEqual([
      ['manifest-validation-failed', 'tools/v1again.mjs'],
      ['manifest-validation-failed', 'tools/vx.mjs'],
    ]);
    expect(found[0]?.message).toContain('tools/v1.mjs');
  });

  test('E4 E8 F4: guardrails: own, built-in and reserved checks', async () => {
    const guardrail = (id: string, more: string): string =>
      `export default { id: '${id}', kind: 'deterministic', action: { 'on-violation': 'block' }, ${more} };`;
    folder.write('guardrails/built-in.mjs', guardrail('acme.cite', `check: 'must-cite', config: { a: 1 }`));
    folder.write(
      'guardrails/own.mjs',
      guardrail('acme.own', `check: { id: 'acme.checks.own', configJsonSchema: { type: 'object' }, evaluate() {} }`),
    );
    folder.write('guardrails/reserved.mjs', guardrail('acme.res', `check: { id: 'must-cite', evaluate() {} }`));
    folder.write('guardrails/unprefixed.mjs', guardrail('acme.un', `check: { id: 'own', evaluate() {} }`));
    folder.write('guardrails/unfit.mjs', guardrail('acme.unfit', `configSchema: { required: ['n'] }, evaluate() {}`));
    folder.write('guardrails/twice.mjs', guardrail('acme.own', `evaluate() {}`));
    const { report } = await run();
    expect(report.fileErrors.map(({ code, filePath, field }) => [code, filePath, field])).toEqual([
      ['reserved-check-id', 'guardrails/reserved.mjs', 'check'],
      ['manifest-validation-failed', 'guardrails/twice.mjs', undefined],
      ['manifest-validation-failed', 'guardrails/unfit.mjs', 'config'],
    ]);
    expect(report.warnings).toEqual([
      expect.objectContaining({ code: 'check-id-unprefixed', filePath: 'guardrails/unprefixed.mjs' }),
    ]);
    const base = { kind: 'deterministic', action: { 'on-violation': 'block' } };
    expect(readIndex().guardrails).toEqual([
      {
        ...base,
        id: 'acme.cite',
        checkBuiltIn: true,
        checkId: 'must-cite',
        checkModulePath: 'guardrails/built-in.mjs',
        config: { a: 1 },
      },
      {
        ...base,
        id: 'acme.own',
        checkId: 'acme.checks.own',
        checkModulePath: 'guardrails/own.mjs',
        configSchema: { type: 'object' },
      },
      { ...base, id: 'acme.un', checkId: 'own', checkModulePath: 'guardrails/unprefixed.mjs' },
    ]);
  });

  test('E6 F6: a flow is judged as a graph, all problems at once', async () => {
    const flow = (nodes: string, edges: string): string =>
      `export default { id: 'acme.f', version: '1.0.0', nodes: [${nodes}], edges: [${edges}] };`;
    const node = (id: string): string => `{ id: '${id}', kind: 'tool', ref: 'acme.ok' }`;
    folder.write(
      'flows/bad.mjs',
      flow(
        `${node('a')}, ${node('b')}, ${node('a')}`,
        `{ id: 'e', from: 'a', to: 'b' }, { id: 'e', from: 'b', to: 'a' }, { id: 'x', from: 'a', to: 'zz' }`,
      ),
    );
    folder.write(
      'flows/good.mjs',
      flow(node('a'), `{ id: 's', from: '$start', to: 'a' }, { id: 'e', from: 'a', to: '$end' }`),
    );
    const [error] = await errors();
    expect(error).toMatchObject({ code: 'manifest-validation-failed', filePath: 'flows/bad.mjs' });
    for (const part of ['"a" is there twice', 'edge id "e"', '"zz"', '$start', 'circle'])
      expect(error?.message).toContain(part);
    expect(readIndex().flows).toMatchObject([{ id: 'acme.f', kernelPayloadVersion: 1, modulePath: 'flows/good.mjs' }]);
  });

  test('F12: a schema that does not compile is a warning that names file and field', async () => {
    folder.write('tools/x.mjs', `export default { id: 'acme.x', input: { type: 'text' }, output: {}, handler() {} };`);
    const { report } = await run();
    expect(report.warnings).toEqual([
      expect.objectContaining({ code: 'schema-does-not-compile', filePath: 'tools/x.mjs', field: 'input' }),
    ]);
    expect(report.counts.tools).toBe(2);
  });

  test('E3 E5: an entry holds what is declared, and only fields of the index', async () => {
    folder.write(
      'tools/x.mjs',
      tool('acme.x', `pauses: true, readsFiles: false, needs: [], spec: { a: 1 }, unknown: 1, tags: []`),
    );
    await run();
    expect(readIndex().tools[1]).toEqual({
      id: 'acme.x',
      input: { type: 'object' },
      output: {},
      modulePath: 'tools/x.mjs',
      pauses: true,
      readsFiles: false,
      needs: [],
      spec: { a: 1 },
    });
  });
});

describe('Zod', () => {
  test("F3 F5: models become JSON Schema, input and output side, by the pack's own Zod", async () => {
    const out = folder.file('typed.json');
    const result = await runCommand([
      'index',
      '--pack-dir',
      packFolder('node-typescript'),
      '--output',
      out,
      '--strict',
    ]);
    expect(result.code).toBe(0);
    const { tools, guardrails } = readIndex('typed.json');
    const greet = tools.find(({ id }) => id === 'typed.greet');
    expect(greet?.input).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { name: { type: 'string', default: 'World' }, shout: { type: 'boolean' } },
    });
    expect(greet?.output).toMatchObject({ required: ['text', 'unit', 'count', 'url'], additionalProperties: false });
    expect(guardrails[0]?.configSchema).toMatchObject({ properties: { words: { type: 'array', minItems: 1 } } });
    expect(greet?.modulePath).toBe('tools/greet.ts');
  });

  test('F5: what JSON Schema cannot express is a file error', async () => {
    symlinkSync(new URL('../../../node_modules/zod', import.meta.url).pathname, folder.file('zod'));
    folder.write('tools/ok.mjs', tool('acme.ok'));
    folder.write(
      'tools/x.mjs',
      `import { z } from '../zod/index.js'; export default { id: 'acme.x', input: z.object({ at: z.date() }), output: {}, handler() {} };`,
    );
    symlinkSync(new URL('../../../node_modules', import.meta.url).pathname, folder.file('node_modules'));
    const { report } = await run();
    expect(report.fileErrors).toEqual([
      expect.objectContaining({ code: 'zod-conversion-failed', filePath: 'tools/x.mjs', field: 'input' }),
    ]);
  });
});
