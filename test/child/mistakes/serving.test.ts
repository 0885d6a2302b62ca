import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { problemsOf, runCommand, startChild } from '../support/child.ts';
import { invoke, post } from '../support/http.ts';
import { indexOf, makeFolder, toolEntry } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';

let pack: Folder;
beforeEach(() => {
  pack = makeFolder({ 'package.json': { type: 'module' }, 'tools/right.mjs': 'export default () => 1;\n' });
});
afterEach(() => pack.remove());

const RIGHT = toolEntry('acme.right', 'tools/right.mjs');

describe('mistakes that keep a service from starting: one line, all problems in it', () => {
  test('C13: an index that is not there', async () => {
    const { event, problems } = await problemsOf({ index: pack.file('dist/index.json') });
    expect(event).toBe('boot-failed');
    expect(problems).toEqual([
      expect.stringMatching(/^Cannot read the pack index .*dist\/index\.json: .*index the pack first$/),
    ]);
  });

  test('C13: an index that is no JSON', async () => {
    const { problems } = await problemsOf({ index: pack.write('index.json', '{"v": 1,') });
    expect(problems).toEqual([expect.stringMatching(/^Cannot read the pack index .*index\.json: it is not JSON: /)]);
  });

  test('C13 E1: an index of another version', async () => {
    const { problems } = await problemsOf({ index: pack.write('index.json', indexOf({ v: 2 })) });
    expect(problems).toEqual([
      expect.stringMatching(/index\.json has envelope version 2; this service reads version 1$/),
    ]);
  });

  test('C13: an index with several wrong entries', async () => {
    const tools = [
      { ...RIGHT, id: '' },
      { ...RIGHT, input: 'text' },
    ];
    const { problems } = await problemsOf({ index: pack.write('index.json', indexOf({ tools })) });
    expect(problems).toEqual([
      expect.stringContaining('expected `tools[0].id` to be a text, got ""'),
      expect.stringContaining('expected `tools[1].input` to be a JSON Schema, got "text"'),
    ]);
  });

  test('C13 E20: an index in which one tool stands twice', async () => {
    const { problems } = await problemsOf({ index: pack.write('index.json', indexOf({ tools: [RIGHT, RIGHT] })) });
    expect(problems).toEqual([expect.stringContaining('tool acme.right@1.0.0 is in it twice')]);
  });

  test('C13 E7: modules that are missing and modules outside the pack, all at once', async () => {
    const paths = ['tools/gone.mjs', '/etc/tool.mjs', '../other/tool.mjs', 'tools/also-gone.ts'];
    const tools = [RIGHT, ...paths.map((path, at) => toolEntry(`acme.t${at}`, path))];
    const { problems } = await problemsOf({ index: pack.write('index.json', indexOf({ tools })) });
    expect(problems).toEqual([
      'Missing module: tools/gone.mjs',
      "Module outside the pack's folder: /etc/tool.mjs; name it relative to the folder",
      "Module outside the pack's folder: ../other/tool.mjs; name it relative to the folder",
      'Missing module: tools/also-gone.ts',
    ]);
  });

  test('C13: modules that do not load, all at once, each with its tool, its place and a remedy', async () => {
    const broken = {
      'tools/syntax.mjs': `export default {\n  id: 'acme' x,\n};\n`,
      'tools/syntax.ts': `const id: string = ;\n`,
      'tools/throws.ts': `const config: unknown = undefined;\nthrow new Error(\`no config: \${config}\`);\n`,
      'tools/package.mjs': `\nimport x from 'nobodys-package';\nexport default x;\n`,
      'tools/file.mjs': `export { default } from './filee.mjs';\n`,
      'tools/waits.mjs': `await new Promise(() => {});\n`,
    };
    for (const [path, contents] of Object.entries(broken)) pack.write(path, contents);
    const tools = [
      RIGHT,
      ...Object.keys(broken).map((path) =>
        toolEntry(path.replace(/^tools\/(.*)\..*$/, 'acme.$1'), path, { version: path }),
      ),
    ];
    const { event, problems } = await problemsOf({ index: pack.write('index.json', indexOf({ tools })) });
    expect(event).toBe('boot-failed');
    expect(problems).toEqual([
      'acme.syntax: tools/syntax.mjs:2:14: SyntaxError: Expected "}" but found "x"',
      'acme.syntax: tools/syntax.ts:1:20: SyntaxError: Unexpected ";"',
      'acme.throws: tools/throws.ts:2:7: Error: no config: undefined',
      expect.stringMatching(
        /^acme\.package: tools\/package\.mjs:2: .*'nobodys-package'.*; install it .*: npm install nobodys-package$/,
      ),
      expect.stringMatching(
        /^acme\.file: tools\/file\.mjs:1: .*'tools\/filee\.mjs'.*; check the path and the ending of the file$/,
      ),
      expect.stringMatching(/^acme\.waits: tools\/waits\.mjs: .*never settles; wait for it in the handler instead$/),
    ]);
  });

  test('C4: settings that are wrong, all at once', async () => {
    const env = { KINDGI_PACK_SERVICE_TOKEN: 'with blanks', PORT: '80 80', KINDGI_PACK_TENANT_ID: 'a b' };
    const { event, problems } = await problemsOf({ index: pack.write('index.json', indexOf({ tools: [RIGHT] })), env });
    expect(event).toBe('config-invalid');
    expect(problems).toHaveLength(3);
    for (const [at, name] of Object.keys(env).entries()) expect(problems.join('\n'), `problem ${at}`).toContain(name);
  });

  test('C15: a port that is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    try {
      const options = { index: pack.write('index.json', indexOf({ tools: [RIGHT] })), env: { PORT: String(port) } };
      const { problems } = await problemsOf(options);
      expect(problems).toEqual([expect.stringContaining(String(port))]);
    } finally {
      taken.close();
    }
  });

  test('C12: a module root that is no folder', async () => {
    const index = pack.write('index.json', indexOf({ tools: [RIGHT] }));
    const { problems } = await problemsOf({ index, moduleRoot: pack.file('nowhere') });
    expect(problems).toEqual([expect.stringMatching(/^There is no folder .*nowhere \(--module-root\)$/)]);
  });

  test('a command that is none prints how it is used', async () => {
    expect(await runCommand(['sreve'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('packgate-child serve'),
    });
  });
});

describe('mistakes that a running service tells', () => {
  test('C17: required variables that are not set are one line, with all names', async () => {
    const env = { required: ['ACME_URL', 'ACME_KEY'], optional: [] };
    const child = await startChild({ index: pack.write('index.json', indexOf({ tools: [RIGHT], env })) });
    try {
      const missing = child.records.filter(({ event }) => event === 'missing-env');
      expect(missing.map(({ names }) => names)).toEqual([['ACME_KEY', 'ACME_URL']]);
      expect((await post(child.port, invoke('acme.right'))).json).toMatchObject({
        missingEnv: ['ACME_KEY', 'ACME_URL'],
      });
    } finally {
      await child.stop();
    }
  });

  test('D12 F8: a module without a handler says in the answer what to export', async () => {
    pack.write('tools/no-handler.mjs', 'export default { id: "acme.none", handel: () => 1 };\n');
    pack.write('tools/failed.mjs', 'export default { kind: "err", error: { message: "the id has a blank in it" } };\n');
    const tools = [toolEntry('acme.none', 'tools/no-handler.mjs'), toolEntry('acme.failed', 'tools/failed.mjs')];
    const child = await startChild({ index: pack.write('index.json', indexOf({ tools })) });
    try {
      expect((await post(child.port, invoke('acme.none'))).json).toMatchObject({
        code: 'handler-shape-invalid',
        message: expect.stringMatching(/tools\/no-handler\.mjs.*export default \{ id, input, output, handler \}/),
      });
      expect((await post(child.port, invoke('acme.failed'))).json).toMatchObject({
        code: 'handler-shape-invalid',
        message: expect.stringMatching(/tools\/failed\.mjs.*the id has a blank in it/),
      });
    } finally {
      await child.stop();
    }
  });

  test('D12: a schema that does not compile is told when the service starts, with tool and file', async () => {
    const tools = [toolEntry('acme.right', 'tools/right.mjs', { input: { type: 'text' } })];
    const child = await startChild({ index: pack.write('index.json', indexOf({ tools })) });
    try {
      await child.waitFor(({ message }) =>
        /input schema of tool acme\.right \(tools\/right\.mjs\) does not compile/.test(String(message)),
      );
      expect((await post(child.port, invoke('acme.right'))).json).toMatchObject({ code: 'input-validation-failed' });
    } finally {
      await child.stop();
    }
  });
});
