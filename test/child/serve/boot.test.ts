import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { indexPack, packFolder, problemsOf, runChild, runCommand, startChild, TOKEN } from '../support/child.ts';
import type { Child, ChildOptions } from '../support/child.ts';
import { indexOf, makeFolder, toolEntry } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { ask, info, invoke, post } from '../support/http.ts';

const TOOL = 'export default { handler: () => 1 };';

let folder: Folder;
let child: Child | undefined;

beforeEach(() => {
  folder = makeFolder();
});

afterEach(async () => {
  await child?.stop();
  child = undefined;
  folder.remove();
});

/** A pack with one tool of that code. */
function packOf(code: string, parts: object = {}): ChildOptions {
  folder.write('tools/one.mjs', code);
  return { index: folder.write('index.json', indexOf({ tools: [toolEntry('acme.one', 'tools/one.mjs')], ...parts })) };
}

async function start(options: ChildOptions): Promise<Child> {
  child = await startChild(options);
  return child;
}

describe('arguments and environment', () => {
  test('C4: all configuration problems are one line, with exit 1', async () => {
    const { event, problems } = await problemsOf({
      index: 'index.json',
      args: ['--host', ''],
      env: {
        KINDGI_PACK_SERVICE_TOKEN: ' ',
        PORT: '0x0',
        KINDGI_PACK_SERVICE_MAX_CONCURRENCY: '0',
        KINDGI_PACK_ENV_CHECK: 'maybe',
        KINDGI_PACK_ENV_FILTER: 'x',
        KINDGI_PACK_TENANT_ID: 'a b',
      },
    });
    expect(event).toBe('config-invalid');
    const names = ['--host', 'TOKEN', 'PORT', 'MAX_CONCURRENCY', 'ENV_CHECK', 'ENV_FILTER', 'TENANT_ID'];
    expect(problems).toHaveLength(names.length);
    for (const name of names) expect(problems.some((problem) => problem.includes(name))).toBe(true);
  });

  test.each([
    ['PORT', ''],
    ['PORT', ' 0'],
    ['PORT', '1e1'],
    ['PORT', '65536'],
    ['KINDGI_PACK_SERVICE_MAX_CONCURRENCY', ''],
    ['KINDGI_PACK_SERVICE_MAX_CONCURRENCY', '4.0'],
  ])('C.2: %s=%j is a problem', async (name, value) => {
    const { problems } = await problemsOf({ index: 'index.json', env: { [name]: value } });
    expect(problems).toEqual([expect.stringContaining(name)]);
  });

  test.each(['two words', 'größe'])('C.2: the token "%s" is a problem that does not repeat it', async (token) => {
    const { problems } = await problemsOf({ index: 'index.json', env: { KINDGI_PACK_SERVICE_TOKEN: token } });
    expect(problems).toEqual([expect.stringContaining('KINDGI_PACK_SERVICE_TOKEN')]);
    expect(problems[0]).not.toContain(token);
  });

  test.each(['KINDGI_LOG_LEVEL', 'KINDGI_LOG_LEVELS', 'KINDGI_LOG_FORMAT'])(
    'C4: a bad %s is reported alone and first',
    async (name) => {
      const { event, problems } = await problemsOf({ index: 'index.json', env: { [name]: 'loud', PORT: 'x' } });
      expect(event).toBe('config-invalid');
      expect(problems).toEqual([expect.stringContaining(name)]);
    },
  );

  test('C2: --host as the last word is a problem', async () => {
    const { problems } = await problemsOf({ index: 'index.json', args: ['--host'] });
    expect(problems).toEqual([expect.stringContaining('--host')]);
  });

  test('C1 C13: --index=x is not read, so the default index is missed', async () => {
    const env = { KINDGI_PACK_SERVICE_TOKEN: TOKEN, PORT: '0' };
    const { code, stderr } = await runCommand(['serve', '--index=x.json', '--unknown', 'y'], { env });
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      event: 'boot-failed',
      problems: [expect.stringMatching(/^Cannot read the pack index \/app\/index\.json/)],
    });
  });

  test('C5: a token stored with a trailing newline works', async () => {
    const { port } = await start({ ...packOf(TOOL), env: { KINDGI_PACK_SERVICE_TOKEN: `${TOKEN}\n` } });
    expect((await info(port)).status).toBe(200);
  });

  test('C.1: the module root is the folder of the index, which the environment can name', async () => {
    const { index } = packOf(TOOL);
    const { port } = await start({ index, env: { KINDGI_PACK_INDEX: '/nowhere.json' } });
    expect((await post(port, invoke('acme.one'))).json).toMatchObject({ output: 1 });
  });

  test('C14 C19 C20: the listening record has port and pack, in both forms at once', async () => {
    const { records, port } = await start(packOf(TOOL));
    expect(records).toEqual([
      {
        time: expect.any(String),
        level: 'info',
        severity: 'INFO',
        subsystem: 'pack',
        message: expect.any(String),
        port,
        packId: 'acme',
        artifactVersion: '20260101.1',
        event: 'listening',
        kind: 'listening',
      },
    ]);
  });

  test('C20 C26: at level error only the lifecycle is written', async () => {
    const { port, records, kill, exit } = await start({
      ...packOf(TOOL),
      env: { KINDGI_LOG_LEVEL: 'error', UNDECLARED: 'x', KINDGI_PACK_TENANT_ID: 't' },
    });
    await post(port, invoke('acme.one'));
    kill('SIGTERM');
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(records.map(({ event }) => event)).toEqual(['listening', 'draining', 'stopped']);
  });

  test('C.2: levels are set by subsystem, the longer name wins', async () => {
    const code = `export default { handler: (_input, { log }) => { log.debug('deep'); return log.isLevelEnabled('trace'); } };`;
    const levels = 'pack=error,pack.tool=debug';
    const { port, records } = await start({ ...packOf(code), env: { KINDGI_LOG_LEVELS: levels } });
    expect((await post(port, invoke('acme.one'))).json).toMatchObject({ output: false });
    expect(records.map(({ message, event }) => event ?? message)).toEqual(['listening', 'deep']);
  });
});

describe('the environment of pack code', () => {
  const CODE = `
    import { execFileSync } from 'node:child_process';
    const own = Object.keys(process.env);
    export default { handler: () => ({
      own,
      spawned: execFileSync(process.execPath, ['-p', 'Object.keys(process.env).join()'], { encoding: 'utf8' }).trim().split(','),
    }) };`;

  test('C6 C8 C9: the token is gone, undeclared names are dropped and listed without values', async () => {
    const env = {
      DECLARED: '1',
      OPTIONAL: '1',
      UNDECLARED: 'hidden-value',
      AWS_SECRET_ACCESS_KEY: 'hidden-value',
      AWS_REGION: 'x',
      KINDGI_SOMETHING: 'x',
      LC_ALL: 'C',
      OTEL_SERVICE_NAME: 'x',
      NODE_ENV: 'x',
      K_SERVICE: 'x',
      PACKGATE_BUILD_DIR: folder.path,
    };
    const options = packOf(CODE, { env: { required: ['DECLARED'], optional: ['OPTIONAL'] } });
    const { port, records } = await start({ ...options, env });
    const { json } = await post(port, invoke('acme.one'));
    const { own, spawned } = json.output as { own: string[]; spawned: string[] };
    const kept = [
      'AWS_REGION',
      'DECLARED',
      'KINDGI_SOMETHING',
      'K_SERVICE',
      'LC_ALL',
      'NODE_ENV',
      'OPTIONAL',
      'OTEL_SERVICE_NAME',
      'PATH',
      'PORT',
    ];
    expect(own.sort()).toEqual(kept);
    expect(spawned.sort()).toEqual(kept);
    const dropped = records.find(({ event }) => event === 'env-dropped');
    expect(dropped).toMatchObject({ level: 'warn', names: ['AWS_SECRET_ACCESS_KEY', 'UNDECLARED'] });
    expect(JSON.stringify(records)).not.toContain('hidden-value');
  });

  test('C8: with the filter off everything but the token stays, and nothing is reported', async () => {
    const env = { UNDECLARED: 'x', KINDGI_PACK_ENV_FILTER: 'off' };
    const { port, records } = await start({ ...packOf(CODE), env });
    const { own } = (await post(port, invoke('acme.one'))).json.output as { own: string[] };
    expect(own).toContain('UNDECLARED');
    expect(own).not.toContain('KINDGI_PACK_SERVICE_TOKEN');
    expect(records.some(({ event }) => event === 'env-dropped')).toBe(false);
  });

  test('C17 A3 A9: a missing required name keeps every call out and is listed', async () => {
    const options = packOf(TOOL, { env: { required: ['B_NAME', 'A_NAME', 'SET', 'BLANK'], optional: [] } });
    const { port, records } = await start({ ...options, env: { A_NAME: '', SET: 'x', BLANK: ' ' } });
    const missingEnv = ['A_NAME', 'B_NAME'];
    const missing = records.filter(({ event }) => event === 'missing-env');
    expect(missing).toEqual([expect.objectContaining({ level: 'warn', check: 'strict', names: missingEnv })]);
    for (const answer of [await post(port, invoke('acme.one')), await ask(port, { path: '/readyz' })]) {
      expect(answer).toMatchObject({ status: 503, json: { error: 'missing env', missingEnv } });
      expect(answer.headers['retry-after']).toBe('1');
    }
    expect((await info(port)).json).toMatchObject({ missingEnv });
    expect((await ask(port, { path: '/healthz' })).status).toBe(200);
  });

  test('C17: with the check on warn it serves all the same', async () => {
    const options = packOf(TOOL, { env: { required: ['NAME'], optional: [] } });
    const { port, records } = await start({ ...options, env: { KINDGI_PACK_ENV_CHECK: 'warn' } });
    expect((await post(port, invoke('acme.one'))).json).toMatchObject({ output: 1 });
    expect((await info(port)).json).toMatchObject({ missingEnv: ['NAME'] });
    expect(records.find(({ event }) => event === 'missing-env')).toMatchObject({ check: 'warn', names: ['NAME'] });
  });
});

describe('a start that fails', () => {
  const failing = async (options: ChildOptions): Promise<string[]> => {
    const { event, problems } = await problemsOf(options);
    expect(event).toBe('boot-failed');
    return problems;
  };

  test.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['without tools', { ...indexOf(), tools: undefined }],
    ['with a tool without an id', indexOf({ tools: [{ input: {}, output: {}, modulePath: 'x.mjs' }] })],
    ['with an artifact version that fits no header', { ...indexOf(), artifactVersion: 'größe' }],
  ])('C12 C13: an index that is %s', async (_name, contents) => {
    const problems = await failing({ index: folder.write('index.json', contents) });
    expect(
      problems.every((problem) => problem.startsWith(`Cannot read the pack index ${folder.file('index.json')}`)),
    ).toBe(true);
  });

  test('C13: every problem of an index is told with its place', async () => {
    const tools = [{ id: '', input: 1, output: {}, modulePath: 'x' }, toolEntry('a', 'a.mjs'), toolEntry('a', 'a.mjs')];
    const problems = (await failing({ index: folder.write('index.json', indexOf({ tools })) })).join('\n');
    for (const part of ['tools[0].id', 'tools[0].input', 'tool a@1.0.0']) expect(problems).toContain(part);
  });

  test('C13 E1: another envelope version is named', async () => {
    expect(await failing({ index: folder.write('index.json', indexOf({ v: 2 })) })).toEqual([
      expect.stringMatching(/version 2\b/),
    ]);
  });

  test('C12 C13: missing modules are listed, all of them and only they', async () => {
    folder.write('tools/bad.mjs', 'throw new Error("not reached")');
    const tools = ['tools/bad.mjs', 'tools/a.mjs', 'tools/b.mjs'].map((path) => toolEntry(path, path));
    const index = folder.write('index.json', indexOf({ tools }));
    expect(await failing({ index })).toEqual(['Missing module: tools/a.mjs', 'Missing module: tools/b.mjs']);
  });

  test.each(['../outside.mjs', 'tools/../../outside.mjs', '/etc/passwd'])(
    'E7: a module path %s is refused',
    async (path) => {
      const index = folder.write('pack/index.json', indexOf({ tools: [toolEntry('acme.out', path)] }));
      folder.write('outside.mjs', TOOL);
      expect(await failing({ index })).toEqual([expect.stringContaining(`outside the pack's folder: ${path}`)]);
    },
  );

  test('C13: every module that does not load is told, with its tool, its file and the reason', async () => {
    folder.write('tools/throws.mjs', '\nthrow new TypeError("no table")');
    folder.write('tools/syntax.mjs', '\n\nexport default { handler: ( };');
    folder.write('tools/helper.mjs', 'import "./_broken.mjs"; export default {};');
    folder.write('tools/_broken.mjs', 'const x = ;');
    folder.write('tools/package.mjs', 'import "no-such-package"; export default {};');
    folder.write('tools/stalls.mjs', 'await new Promise(() => {}); export default {};');
    folder.write('tools/typed.ts', 'export default { handler: (x: ) => 1 };');
    const names = ['throws.mjs', 'syntax.mjs', 'helper.mjs', 'package.mjs', 'stalls.mjs', 'typed.ts'];
    const tools = names.map((name) => toolEntry(`acme.${name.split('.')[0]}`, `tools/${name}`));
    const problems = await failing({ index: folder.write('index.json', indexOf({ tools })) });
    expect(problems).toEqual([
      'acme.throws: tools/throws.mjs:2:7: TypeError: no table',
      expect.stringMatching(/^acme\.syntax: tools\/syntax\.mjs:3:\d+: SyntaxError: /),
      expect.stringMatching(/^acme\.helper: tools\/helper\.mjs: SyntaxError: .* \(at tools\/_broken\.mjs:1:\d+\)$/),
      expect.stringMatching(/^acme\.package: tools\/package\.mjs:1: .*no-such-package.*; install it/),
      expect.stringMatching(/^acme\.stalls: tools\/stalls\.mjs: .*never settles/),
      expect.stringMatching(/^acme\.typed: tools\/typed\.ts:1:\d+: SyntaxError: /),
    ]);
    expect(problems.join()).not.toContain(folder.path);
  });

  test('C15: a port that is taken is told like any other problem', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const problems = await failing({ ...packOf(TOOL), env: { PORT: String(port) } });
    server.close();
    expect(problems).toEqual([expect.stringContaining(`port ${port}: EADDRINUSE`)]);
  });

  test('C15: a module that ends the process ends it with its own code, without a line', async () => {
    const { code, records } = await runChild(packOf('process.exit(7);'));
    expect({ code, records }).toEqual({ code: 7, records: [] });
  });

  test('C1: a module root that is no folder', async () => {
    const { index } = packOf(TOOL);
    expect(await failing({ index, moduleRoot: folder.file('nowhere') })).toEqual([
      expect.stringContaining('--module-root'),
    ]);
  });
});

describe('modules', () => {
  test('D12 F7: a module without anything to call is told when it is called, after the input was checked', async () => {
    folder.write('tools/none.mjs', 'export const nothing = 1;');
    const input = { type: 'object', required: ['x'] };
    const index = folder.write('index.json', indexOf({ tools: [toolEntry('acme.none', 'tools/none.mjs', { input })] }));
    const { port } = await start({ index });
    expect((await post(port, invoke('acme.none', {}))).json).toMatchObject({ code: 'input-validation-failed' });
    const { json } = await post(port, invoke('acme.none', { x: 1 }));
    expect(json).toMatchObject({ code: 'handler-shape-invalid', message: expect.stringContaining('tools/none.mjs') });
  });

  test('D12 F12: a schema that does not compile is told at boot and in the answer, without issues', async () => {
    folder.write('tools/one.mjs', TOOL);
    const tools = [
      toolEntry('acme.input', 'tools/one.mjs', { input: { type: 'nonsense' } }),
      toolEntry('acme.output', 'tools/one.mjs', { output: { $ref: '#/nowhere' } }),
    ];
    const { port, records } = await start({ index: folder.write('index.json', indexOf({ tools })) });
    const warnings = records.filter(({ level, event }) => level === 'warn' && event === undefined);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('acme.input (tools/one.mjs)'),
      expect.stringContaining('acme.output (tools/one.mjs)'),
    ]);
    for (const side of ['input', 'output']) {
      const { json } = await post(port, invoke(`acme.${side}`));
      expect(json).toMatchObject({ code: `${side}-validation-failed`, cause: { name: expect.any(String) } });
      expect(json).not.toHaveProperty('issues');
    }
  });

  test('F16: a bundle map says which file is loaded, the rest is loaded as named', async () => {
    folder.write('built/one.mjs', `export default { handler: () => 'built' };`);
    folder.write('tools/two.mjs', `export default { handler: () => 'as named' };`);
    const tools = [toolEntry('acme.one', 'tools/one.ts'), toolEntry('acme.two', 'tools/two.mjs')];
    const index = folder.write('index.json', indexOf({ tools }));
    const map = folder.write('map.json', { 'tools/one.ts': 'built/one.mjs' });
    const { port } = await start({ index, args: ['--bundle-map', map] });
    expect((await post(port, invoke('acme.one'))).json).toMatchObject({ output: 'built' });
    expect((await post(port, invoke('acme.two'))).json).toMatchObject({ output: 'as named' });
  });

  test.each([
    ['no JSON', '{'],
    ['a list', '["x"]'],
    ['of numbers', { a: 1 }],
  ])('F16: a bundle map that is %s', async (_name, contents) => {
    const { problems } = await problemsOf({
      ...packOf(TOOL),
      args: ['--bundle-map', folder.write('map.json', contents)],
    });
    expect(problems).toEqual([expect.stringMatching(/^Cannot read the bundle map /)]);
  });

  test("F9 D17 D19: the tool's own Zod model parses the input, its issues have no keyword", async () => {
    const index = folder.file('typed.json');
    await indexPack(packFolder('node-typescript'), index);
    const { port } = await start({ index, moduleRoot: packFolder('node-typescript') });
    const { json } = await post(port, invoke('typed.greet', { name: 'nobody' }));
    expect(json).toMatchObject({ code: 'input-validation-failed', toolId: 'typed.greet' });
    expect(json.issues).toEqual([{ instancePath: '/name', message: 'somebody must be greeted' }]);
  });

  test('D29: the index hash is of the bytes as they were read', async () => {
    const { createHash } = await import('node:crypto');
    const { index } = packOf(TOOL);
    const { port } = await start({ index });
    const hash = createHash('sha256').update(readFileSync(index)).digest('hex');
    folder.write('index.json', 'changed since');
    expect((await info(port)).json).toMatchObject({ indexHash: `sha256:${hash}` });
    expect(join(folder.path, 'index.json')).toBe(index);
  });
});
