// What `packgate dev` has in place of a runtime, for calls that `packgate invoke` makes: files and pauses.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { HEADER } from '../../shared/protocol/headers.ts';
import { afterAllTests } from '../support/atEnd.ts';
import type { AtEnd } from '../support/atEnd.ts';
import { packsFolder, startDevLoop } from '../support/devLoop.ts';
import type { DevLoopOptions, RunningLoop } from '../support/devLoop.ts';
import { temporaryFolder, until } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import type { Answer } from '../support/http.ts';
import { descriptorCount, listeningSocketsOf, stillListening } from '../support/processes.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const root = resolve(import.meta.dirname, '../..');
const DIST = process.env.PACKGATE_TEST_DIST ?? join(root, 'dist');
const MAIN = join(DIST, 'gateway', 'main.js');

/** Tools by the names of their files. */
const TOOLS = {
  sign: `
    export default {
      id: 'letters.sign', description: 'Signs a letter', readsFiles: true, storesFiles: true,
      input: { type: 'object' }, output: { type: 'object' },
      handler: async (input: any, ctx: any) => {
        const read = await ctx.files.read(input.id);
        if (!('bytes' in read)) return read;
        const bytes = read.bytes.toString() + 'signed';
        return ctx.files.store({ bytes, type: 'text/plain', name: input.as ?? 'signed.txt' });
      },
    };`,
  ask: `
    export default {
      id: 'letters.ask', description: 'Waits for a yes', pauses: true,
      input: { type: 'object' }, output: { type: 'object' },
      handler: (input: any, ctx: any) => ctx.pause({ name: 'the manager', timeoutMs: 60_000 }),
    };`,
  sees: `
    export default {
      id: 'letters.sees', description: 'Says what it has', input: { type: 'object' }, output: { type: 'object' },
      handler: (input: any, ctx: any) => {
        let waitToken = 'none';
        try { waitToken = ctx.waitToken?.url ?? 'none'; } catch {}
        return { waitToken, files: typeof ctx.files, key: ctx.idempotencyKey ?? 'none' };
      },
    };`,
};

function writePack(folder: string, name = 'letters'): void {
  const pack = join(folder, name);
  mkdirSync(join(pack, 'tools'), { recursive: true });
  writeFileSync(join(pack, 'kindgi.config.ts'), "export default { pack: { id: 'letters', version: '1.0.0' } };\n");
  for (const [tool, text] of Object.entries(TOOLS)) writeFileSync(join(pack, 'tools', `${tool}.ts`), `${text}\n`);
}

interface Author {
  readonly folder: string;
  readonly loop: RunningLoop;
}

/** Two packs of two tenants, served. */
async function develop(atEnd: AtEnd, as?: DevLoopOptions['as']): Promise<Author> {
  const folder = temporaryFolder(atEnd);
  const packs = packsFolder(folder);
  writePack(packs);
  writePack(packs, 'others');
  const args = [packs, '--port', '0', '--tenant', 'letters=letters', '--tenant', 'others=others'];
  const loop = await startDevLoop({ folder, args, ...(as && { as }) }, atEnd);
  if (as === undefined) await until('both serve', () => servedBy(loop) === 2, 20_000);
  else for (const name of ['letters', 'others']) await loop.waitForText(new RegExp(`${name} +✓ serves`));
  writeFileSync(join(folder, 'letter.txt'), 'Dear all, ');
  return { folder, loop };
}

function servedBy(loop: RunningLoop): number {
  return loop.records().filter(({ event }) => event === 'pack-served').length;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((done) => void server.close(() => done()));
  return port;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Of a result, its output. */
  readonly output: Readonly<Record<string, unknown>>;
}

async function run(program: string, argv: readonly string[], { folder, loop }: Author): Promise<Ended> {
  const env = { PATH: process.env.PATH, TMPDIR: join(folder, 'tmp'), PACKGATE_TOKEN: loop.token };
  const child = spawn(program, argv, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text));
  const [code] = (await once(child, 'close')) as [number | null];
  const output = texts.stdout.startsWith('{') ? (JSON.parse(texts.stdout) as Ended['output']) : {};
  return { code, ...texts, output };
}

function invoke(author: Author, argv: readonly string[], tenant = 'letters'): Promise<Ended> {
  const where = argv.includes('--url') ? [] : ['--url', author.loop.address];
  return run(process.execPath, [MAIN, 'invoke', ...argv, ...where, '--tenant', tenant], author);
}

function get(url: string): Promise<Answer> {
  return send(url, { path: new URL(url).pathname });
}

/** Calls of tools that the loop has logged, among them all that were answered by now: a record of ours stands after theirs. */
async function callsSoFar(): Promise<number> {
  const { loop } = author;
  const requestId = randomUUID();
  const headers = { [HEADER.token]: loop.token, [HEADER.tenantId]: 'letters', [HEADER.requestId]: requestId };
  await send(loop.address, { path: '/v1/info', headers });
  await loop.waitForRecord((record) => record.event === 'call' && record.requestId === requestId);
  return loop.records().filter(({ event, route }) => event === 'call' && route === 'invoke').length;
}

const atEnd = afterAllTests();
let author: Author;
beforeAll(async () => {
  author = await develop(atEnd);
});

describe('files', () => {
  it('as the README has it: a file is given, read, stored and saved', async () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const section = readme.slice(readme.indexOf('\n### Files and pauses without a runtime\n'));
    const command = /```sh\n(node dist\/[^\n]*)\n```/.exec(section)?.[1] ?? '';
    const script = `${command.replace('node dist/', `'${process.execPath}' '${DIST}/`).replace('main.js', "main.js'")} --url ${author.loop.address}`;
    const { code, output, stderr } = await run('sh', ['-c', script], author);
    expect([code, output]).toEqual([0, { file: expect.objectContaining({ name: 'signed.txt' }) as object }]);
    const path = join(author.folder, 'signed', 'signed.txt');
    expect(stderr).toContain(`stored signed.txt (16 bytes): ${path}\n`);
    expect(readFileSync(path, 'utf8')).toBe('Dear all, signed');
  });

  it('are shown with where they are to be had, and are there for later calls of that tenant alone', async () => {
    const first = await invoke(author, ['letters.sign', '{"id":"a"}', '--file', 'a=letter.txt']);
    const [, url = ''] = /^stored signed\.txt \(16 bytes\): (http:\S+)$/m.exec(first.stderr) ?? [];
    expect(await get(url)).toMatchObject({ status: 200, text: 'Dear all, signed' });
    const { id } = first.output.file as { id: string };
    const argv = ['letters.sign', JSON.stringify({ id })];
    expect((await invoke(author, argv)).output).toMatchObject({ file: { size: 22 } });
    expect((await invoke(author, argv, 'others')).output).toEqual({ notRead: 'gone' });
    // What was given was for one call.
    expect((await invoke(author, ['letters.sign', '{"id":"a"}'])).output).toEqual({ notRead: 'gone' });
  });

  it('whatever a pack calls them, are saved in the folder, over nothing', async () => {
    const input = JSON.stringify({ id: '../letter', as: '../../\u001b[31mevil.sh' });
    for (let round = 0; round < 2; round += 1) {
      const argv = ['letters.sign', input, '--file', '../letter=letter.txt', '--files', 'saved'];
      const { code, stderr } = await invoke(author, argv);
      expect(code).toBe(0);
      // eslint-disable-next-line no-control-regex
      expect(stderr).not.toMatch(/\u001b/);
    }
    expect(readdirSync(join(author.folder, 'saved')).toSorted()).toEqual(['_..___31mevil-2.sh', '_..___31mevil.sh']);
    expect(existsSync(join(author.folder, 'evil.sh'))).toBe(false);
  });

  it.each([
    [['--file', 'letter.txt'], /--file needs a name and a value/],
    [['--file', 'a=nowhere'], /cannot be read/],
    [['--file', '..=letter.txt'], /no tool can read it by that name/],
    [['--file', 'a=letter.txt', '--file', 'a=letter.txt'], /one name to two files/],
    [['--file', 'a=/dev/zero'], /is no file/],
    [['--files', 'letter.txt'], /cannot be made/],
    [['--files', 'x', '--no-stand-ins'], /leaves no place for files/],
    [['--files', 'x', '--ctx', '{"toolFiles":{}}'], /toolFiles of its own/],
    [['--files', 'x', '--check', 'c'], /is for tools/],
  ])('%j is wrong usage, before anything is sent', async (argv, message) => {
    const tool = argv.includes('--check') ? [] : ['letters.sign'];
    const before = await callsSoFar();
    expect(await invoke(author, [...tool, ...argv])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(message) as string,
    });
    expect(await callsSoFar()).toBe(before);
  });

  it('are not given to a tool that declares no use of them', async () => {
    const { code, stderr } = await invoke(author, ['letters.sees', '--file', 'a=letter.txt']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('letters.sees has no use of files')]);
  });
});

describe('pauses', () => {
  it('are shown with their address; what is posted there is shown by the loop, and never the address in its log', async () => {
    const from = author.loop.records().length;
    const { code, stderr } = await invoke(author, ['letters.ask']);
    expect(code).toBe(3);
    const [, url = ''] = /posted as JSON to (http:\/\/127\.0\.0\.1:\S+)/.exec(stderr) ?? [];
    expect(await author.loop.waitForRecord(({ event }) => event === 'stand-in-paused', from)).toMatchObject({
      tenant: 'letters',
      tool: 'letters.ask',
      name: 'the manager',
    });
    const posted = await send(url, { method: 'POST', path: new URL(url).pathname, body: '{"yes":true}' });
    expect(posted.json).toEqual({ taken: true });
    const answered = await author.loop.waitForRecord(({ event }) => event === 'stand-in-answered', from);
    expect(answered).toMatchObject({ tenant: 'letters', tool: 'letters.ask', output: '{"yes":true}' });
    expect(author.loop.output()).not.toContain('/waits/');
  });

  it('stand on the terminal of the loop, with the address and what was posted', async ({ onTestFinished }) => {
    const terminal = await develop((undo) => onTestFinished(undo), 'terminal');
    const from = terminal.loop.output().length;
    await invoke(terminal, ['letters.ask']);
    await terminal.loop.waitForText(/letters +letters\.ask {2}paused: waits for "the manager"\n/, from);
    const [, url = ''] = await terminal.loop.waitForText(/letters +post its output as JSON to (\S+)\n/, from);
    await send(url, { method: 'POST', path: new URL(url).pathname, body: '{"yes":"\\u001b[31m"}' });
    expect(await terminal.loop.waitForText(/letters +letters\.ask {2}answered: (.*) \(no run/, from)).toMatchObject({
      1: '{"yes":"\\u001b[31m"}',
    });
  });
});

describe('nobody is surprised', () => {
  const NONE = { waitToken: 'none', files: 'undefined', key: 'none' };

  it('a tool that declares nothing gets nothing; with --no-stand-ins none does', async () => {
    expect((await invoke(author, ['letters.sees'])).output).toEqual(NONE);
    const { code, stderr } = await invoke(author, ['letters.ask', '--no-stand-ins']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('error pause-not-available')]);
  });

  it('a loop that does not listen yet is waited for, with and without files', async ({ onTestFinished }) => {
    const undo: AtEnd = (step) => onTestFinished(step);
    const folder = temporaryFolder(undo);
    writePack(packsFolder(folder));
    writeFileSync(join(folder, 'letter.txt'), 'Dear all, ');
    const port = await freePort();
    const address = `http://127.0.0.1:${port}`;
    const token = 'a-token-of-enough-characters';
    const early = { folder, loop: { ...author.loop, address, token } };
    const wait = ['--wait', '30s'];
    const asked = invoke(early, ['letters.ask', ...wait]);
    const signed = invoke(early, ['letters.sign', '{"id":"a"}', '--file', 'a=letter.txt', ...wait]);
    const args = [packsFolder(folder), '--port', String(port), '--tenant', 'letters=letters'];
    await startDevLoop({ folder, args, env: { PACKGATE_TOKEN: token } }, undo);
    expect(await signed).toMatchObject({ code: 0, output: { file: { size: 16 } } });
    // 421 where it came before the packs were found, as ever; but no loop is called without what it has.
    expect([3, 4]).toContain((await asked).code);
  });

  it('what --ctx has is left as it is', async () => {
    const ctx = JSON.stringify({ waitToken: { id: 'w', url: 'http://127.0.0.1:9/own' } });
    const { code, stderr } = await invoke(author, ['letters.ask', '--ctx', ctx]);
    expect([code, stderr]).toEqual([3, expect.stringContaining('posted as JSON to http://127.0.0.1:9/own\n')]);
    expect(stderr).not.toContain('packgate dev shows');
  });

  it('a gateway that is no loop is sent nothing, also with a loop beside it', async ({ onTestFinished }) => {
    const packs = packsFolder(author.folder);
    const undo: AtEnd = (step) => onTestFinished(step);
    const tenants = { letters: { pack: join(packs, 'letters') } };
    const gateway = await startGateway({ folder: temporaryFolder(undo), tenants }, undo);
    const other = { folder: author.folder, loop: { ...author.loop, token: gateway.token } };
    const paused = await invoke(other, ['letters.ask', '--url', gateway.address]);
    expect([paused.code, paused.stderr]).toEqual([1, expect.stringContaining('error pause-not-available')]);
    const given = await invoke(other, ['letters.sign', '--file', 'a=letter.txt', '--url', gateway.address]);
    expect([given.code, given.stderr]).toEqual([2, expect.stringContaining('no packgate dev of yours serves')]);
  });

  it('a place that others could have made is not asked', async () => {
    const foreign = join(author.folder, 'tmp', `packgate-dev-${process.getuid?.()}`);
    expect(statSync(foreign).mode & 0o077).toBe(0);
    chmodSync(foreign, 0o777);
    try {
      expect((await invoke(author, ['letters.ask'])).code).toBe(1);
    } finally {
      chmodSync(foreign, 0o700);
    }
    expect((await invoke(author, ['letters.ask'])).code).toBe(3);
  });
});

it('twenty calls later the loop has what it had; at its end no listener and no file is left', async () => {
  const one = author;
  const { pid } = one.loop;
  const call = (): Promise<Ended> => invoke(one, ['letters.sign', '{"id":"a"}', '--file', 'a=letter.txt']);
  await call();
  const before = descriptorCount(pid);
  for (let round = 0; round < 20; round += 1) expect((await call()).code).toBe(0);
  await until('no descriptor is left', () => descriptorCount(pid) <= before + 1);
  const sockets = listeningSocketsOf([pid]);
  expect(sockets.length).toBeGreaterThanOrEqual(2);
  const kept = (): string[] =>
    readdirSync(join(one.folder, 'tmp'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('stand-ins'),
    );
  expect(kept().length).toBeGreaterThan(20);
  one.loop.signal('SIGTERM');
  expect(await one.loop.exit).toMatchObject({ code: 0 });
  expect(stillListening(sockets)).toEqual([]);
  expect(kept()).toEqual([]);
});
