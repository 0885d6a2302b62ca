import { afterEach, describe, expect, test } from 'vitest';

import type { Folder } from '../support/folder.ts';
import { guardrailModule, indexPack, newPack, readIndex, toolModule } from './indexing.ts';

let pack: Folder;
afterEach(() => pack.remove());

describe('entries of an index', () => {
  test('E3: what protocols 2.8 to 2.10 added is written where it is declared, and only there', async () => {
    const connections = `needsSpec: { connections: { mail: { app: 'google', scopes: ['read'] } }, env: ['ACME_URL'] }`;
    pack = newPack({
      'tools/a.mjs': toolModule(
        'acme.a',
        `input: {}, output: {}, pauses: true, storesFiles: true, readsFiles: false, ${connections}`,
      ),
      'tools/b.mjs': toolModule('acme.b', 'input: {}, output: {}'),
    });
    expect((await indexPack(pack)).fileErrors).toEqual([]);
    const [a, b] = readIndex(pack).tools;
    expect(a).toMatchObject({ pauses: true, storesFiles: true, readsFiles: false });
    expect(a?.needsSpec).toEqual({ connections: { mail: { app: 'google', scopes: ['read'] } }, env: ['ACME_URL'] });
    expect(Object.keys(b ?? {})).toEqual(['id', 'input', 'modulePath', 'output']);
  });

  test('E27 D29: a tool without a version stays without one', async () => {
    pack = newPack({ 'tools/a.mjs': toolModule('acme.a') });
    await indexPack(pack);
    expect(readIndex(pack).tools).toEqual([
      { id: 'acme.a', input: { type: 'object' }, output: {}, modulePath: 'tools/a.mjs' },
    ]);
  });

  test('E8: a built-in check is used by its name, or by a guardrail that is named like it', async () => {
    pack = newPack({
      'guardrails/a.mjs': guardrailModule('acme.a', `check: 'tool-order'`),
      'guardrails/b.mjs': guardrailModule('must-cite'),
      'guardrails/c.mjs': guardrailModule('acme.c', `check: 'acme.checks.elsewhere'`),
    });
    expect(await indexPack(pack)).toMatchObject({ fileErrors: [], warnings: [] });
    expect(readIndex(pack).guardrails.map(({ id, checkId, checkBuiltIn }) => [id, checkId, checkBuiltIn])).toEqual([
      ['acme.a', 'tool-order', true],
      ['acme.c', 'acme.checks.elsewhere', undefined],
      ['must-cite', undefined, true],
    ]);
  });

  test('E8 E19: every check that a module exports is looked at: reserved ids are errors, foreign ones warnings', async () => {
    const check = (name: string, id: string): string =>
      `export const ${name} = { id: '${id}', evaluate: () => true };\n`;
    pack = newPack({
      'guardrails/a.mjs': check('one', 'must-cite') + check('two', 'tool-order') + guardrailModule('acme.a'),
      'guardrails/b.mjs': check('one', 'mine') + check('two', 'acme.mine') + guardrailModule('acme.b', `check: 'mine'`),
    });
    const { fileErrors, warnings } = await indexPack(pack);
    expect(fileErrors).toEqual([expect.objectContaining({ code: 'reserved-check-id', filePath: 'guardrails/a.mjs' })]);
    expect(fileErrors[0]?.message).toMatch(/"must-cite".*"tool-order"/);
    expect(warnings).toEqual([
      expect.objectContaining({ code: 'check-id-unprefixed', message: expect.stringContaining('"mine"') }),
    ]);
  });

  test('E5: an agent holds what is declared and no empty list that is not', async () => {
    const agent = `{ id: 'acme.agent', version: '1.0.0', name: 'A', instructions: { prompt: 'p', version: '2' }, capabilities: ['chat'], tools: [{ id: 'acme.a', version: '1.0.0' }], tags: [], budget: { tokens: 5 }, other: 1 }`;
    pack = newPack({ 'agents/a.mjs': `export default ${agent};` });
    expect((await indexPack(pack)).fileErrors).toEqual([]);
    expect(readIndex(pack).agents).toEqual([
      {
        id: 'acme.agent',
        version: '1.0.0',
        name: 'A',
        instructions: { prompt: 'p', version: '2' },
        capabilities: ['chat'],
        tools: [{ id: 'acme.a', version: '1.0.0' }],
        tags: [],
        budget: { tokens: 5 },
        modulePath: 'agents/a.mjs',
      },
    ]);
  });

  test('F1 F8: a Result, a Result in a CommonJS default and a plain object are the same to the index', async () => {
    const tool = (id: string): string => `{ id: '${id}', input: {}, output: {}, handler: () => 1 }`;
    pack = newPack({
      'kindgi.config.mjs': `export default { pack: { id: 'acme', version: '1' }, discovery: { tools: 'tools/*' } };`,
      'tools/a.mjs': `export default { kind: 'ok', value: ${tool('acme.a')} };`,
      'tools/b.cjs': `exports.__esModule = true;\nexports.default = { kind: 'ok', value: ${tool('acme.b')} };`,
      'tools/c.cjs': `module.exports = ${tool('acme.c')};`,
    });
    expect((await indexPack(pack)).fileErrors).toEqual([]);
    expect(readIndex(pack).tools.map(({ id }) => id)).toEqual(['acme.a', 'acme.b', 'acme.c']);
  });

  test('E17 E18: what modules print is no part of the report', async () => {
    pack = newPack({
      'tools/a.mjs': `console.log('loading');\nprocess.stdout.write('more');\n${toolModule('acme.a')}`,
    });
    const { stdout, stderr } = await indexPack(pack, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'ok' });
    expect(stderr).toBe('loading\nmore');
  });

  test('E7: a pattern that leaves the pack is a mistake in the configuration', async () => {
    const config = `export default { pack: { id: 'acme', version: '1' }, discovery: { tools: '../*.mjs', flows: '/etc/**' } };`;
    pack = newPack({ 'kindgi.config.mjs': config });
    const { code, stderr } = await indexPack(pack);
    expect(code).toBe(1);
    expect(stderr).toContain('expected `discovery.tools` to stay in the pack\'s folder, got "../*.mjs"');
    expect(stderr).toContain('expected `discovery.flows` to stay in the pack\'s folder, got "/etc/**"');
  });

  test('E16: an index before it that cannot be read counts as none', async () => {
    pack = newPack({ 'tools/a.mjs': toolModule('acme.a'), 'index.json': '{' });
    const { stdout } = await indexPack(pack);
    expect(JSON.parse(stdout)).toMatchObject({ artifactVersion: expect.stringMatching(/^\d{8}\.1$/) });
  });
});
