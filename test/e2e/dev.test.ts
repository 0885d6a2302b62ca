// `packgate dev` as an author has it.
import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { invoke } from '../support/calls.ts';
import type { Endpoint } from '../support/calls.ts';
import { packsFolder, plainText, startDevLoop } from '../support/devLoop.ts';
import type { DevLoopOptions, RunningLoop } from '../support/devLoop.ts';
import { createTypeScriptPack } from '../support/devPacks.ts';
import type { DevPack } from '../support/devPacks.ts';
import { temporaryFolder, until } from '../support/files.ts';
import type { LogRecord } from '../support/gateway.ts';
import { listeningSocketsOf, processesStartedIn, stillListening } from '../support/processes.ts';

// A first start of a pack and several swaps: more than the usual time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

interface Author {
  readonly folder: string;
  readonly loop: RunningLoop;
  readonly pack: DevPack;
  readonly tenantId: string;
  /** The output of the tool, or the refusal. */
  readonly answer: () => Promise<unknown>;
}

/** One pack, served. */
async function develop(options: Partial<DevLoopOptions> = {}, name = 'billing'): Promise<Author> {
  const folder = options.folder ?? temporaryFolder();
  const pack = createTypeScriptPack(packsFolder(folder), name);
  const loop = await startDevLoop({ folder, ...options });
  const tenantId = await tenantOf(loop, name);
  await loop.waitForRecord(servedOf(tenantId));
  return { folder, loop, pack, tenantId, answer: () => answerOf(loop, tenantId, pack.toolId) };
}

async function tenantOf(loop: RunningLoop, name: string): Promise<string> {
  const { tenant } = await loop.waitForRecord(({ event, pack }) => event === 'pack-found' && pack === name);
  return String(tenant);
}

function servedOf(tenantId: string): (record: LogRecord) => boolean {
  return ({ event, tenant }) => event === 'pack-served' && tenant === tenantId;
}

async function answerOf(loop: Endpoint, tenantId: string, toolId: string): Promise<unknown> {
  const { status, body } = await invoke(loop, tenantId, { toolId });
  const message = JSON.parse(body.toString()) as { output?: { answer?: unknown }; code?: unknown };
  return status === 200 ? message.output?.answer : message.code;
}

/** What the loop has to say of what comes next. */
function nextOf({ loop, tenantId }: Author): Promise<LogRecord> {
  const from = loop.records().length;
  return loop.waitForRecord(
    ({ event, tenant }) => tenant === tenantId && (event === 'pack-served' || event === 'pack-broken'),
    from,
  );
}

describe('what is saved', () => {
  it('serves a moment later, in a file of a tool and in one that it imports', async () => {
    const author = await develop();
    expect(await author.answer()).toBe(0);
    let next = nextOf(author);
    author.pack.save('one');
    expect(await next).toMatchObject({ event: 'pack-served', files: ['tools/answer.ts'], isMended: false });
    expect(await author.answer()).toBe('one');
    next = nextOf(author);
    const helper = join(author.pack.folder, 'lib', 'answer.ts');
    writeFileSync(
      `${helper}.tmp`,
      'export const answerOf = (answer: unknown): unknown => ({ answer: `<${answer}>` });\n',
    );
    renameSync(`${helper}.tmp`, helper);
    expect(await next).toMatchObject({ event: 'pack-served', files: ['lib/answer.ts'] });
    expect(await author.answer()).toBe('<one>');
  });

  it('loses no call: under load, every call of twelve saves is answered by one version or the next', async () => {
    const author = await develop();
    let isOver = false;
    const answers: unknown[] = [];
    const callers = Array.from({ length: 4 }, async () => {
      while (!isOver) answers.push(await author.answer());
    });
    for (let version = 1; version <= 12; version += 1) {
      const next = nextOf(author);
      author.pack.save(version);
      expect(await next).toMatchObject({ event: 'pack-served' });
    }
    isOver = true;
    await Promise.all(callers);
    expect(answers.filter((answer) => typeof answer !== 'number')).toEqual([]);
    expect(new Set(answers).size).toBeGreaterThan(6);
    expect(await author.answer()).toBe(12);
  });

  it('is broken: the old answer stays, and the terminal says where, once; mended, it says so', async () => {
    const author = await develop();
    let next = nextOf(author);
    author.pack.write("export default {\n  id: 'billing.answer',\n  input: {;\n};\n");
    const broken = await next;
    expect(broken).toMatchObject({ event: 'pack-broken', isServing: true });
    expect(String((broken.problems as string[])[0])).toContain('tools/answer.ts:3:11: SyntaxError: ');
    expect(await author.answer()).toBe(0);
    next = nextOf(author);
    author.pack.save('mended');
    expect(await next).toMatchObject({ event: 'pack-served', isMended: true });
    expect(await author.answer()).toBe('mended');
  });

  it.each([
    [
      'throws while it loads',
      "\nthrow new Error('not today');\nexport default {};\n",
      /tools\/answer\.ts:2:7: .*not today/,
    ],
    [
      'imports what is not there',
      "import { x } from './nope.ts';\nexport default { x };\n",
      /tools\/answer\.ts:1:\d+: /,
    ],
    ['exports no tool', 'export default 1;\n', /tools\/answer\.ts: its default export/],
    ['ends the process', 'process.exit(3);\nexport default {};\n', /tools\/answer\.ts:1:\d+: .*process\.exit/],
  ])('%s: the old answer stays', async (_, text, problem) => {
    const author = await develop();
    const next = nextOf(author);
    author.pack.write(text);
    const { event, problems } = await next;
    expect(event).toBe('pack-broken');
    expect((problems as string[]).join('\n')).toMatch(problem);
    expect(await author.answer()).toBe(0);
  });

  it('comes in bursts: they collapse, and the last one serves', async () => {
    const author = await develop();
    const from = author.loop.records().length;
    for (let version = 1; version <= 40; version += 1) author.pack.save(version);
    await until('the last one serves', async () => (await author.answer()) === 40, 20_000);
    const swaps = author.loop
      .records()
      .slice(from)
      .filter(({ event }) => event === 'swapped');
    expect(swaps.length).toBeLessThanOrEqual(2);
  });

  it('comes during a swap: one more swap follows', async () => {
    const author = await develop();
    const slow = '\nawait new Promise((resolve) => setTimeout(resolve, 300));';
    const from = author.loop.records().length;
    const count = (wanted: string): number =>
      author.loop
        .records()
        .slice(from)
        .filter(({ event }) => event === wanted).length;
    author.pack.save('first', slow);
    await until('the swap is under way', () => count('instance-starting') === 1, 20_000);
    for (let version = 1; version <= 5; version += 1) author.pack.save(version, slow);
    await until('another one follows', () => count('instance-starting') === 2, 20_000);
    await until('the last one serves', async () => (await author.answer()) === 5, 20_000);
    await until('all others have ended', () => count('instance-exited') === 2, 20_000);
    // And that was all.
    const next = nextOf(author);
    author.pack.save('last');
    await next;
    expect(count('instance-starting')).toBe(3);
  });

  it('hangs: what is saved after it is tried without waiting for it', async () => {
    const author = await develop();
    const tried = join(author.folder, 'tmp', 'tried');
    author.pack.write(
      [
        "import { writeFileSync } from 'node:fs';",
        "writeFileSync(`${process.env.TMPDIR}/tried`, '');",
        'setInterval(() => undefined, 1000);',
        'await new Promise(() => undefined);',
        'export default {};',
      ].join('\n'),
    );
    await until('it is tried', () => existsSync(tried), 20_000);
    author.pack.save('after all');
    await until('the next one serves', async () => (await author.answer()) === 'after all', 15_000);
    expect(author.loop.records().filter(({ event }) => event === 'pack-broken')).toEqual([]);
  });

  it('by the pack itself, whenever it starts, is told and swapped for no more; what its author saves is', async () => {
    const author = await develop();
    const writes = [
      "import { writeFileSync } from 'node:fs';",
      "writeFileSync(new URL('../started.json', import.meta.url), String(Date.now()));",
    ];
    author.pack.save('restless', `\n${writes.join('\n')}`);
    const { problem } = await author.loop.waitForRecord(({ event }) => event === 'pack-problem', 0, 50_000);
    expect(problem).toBe('started.json is written by the pack itself: it counts as saved no more');
    author.pack.save('calm');
    await until('it serves', async () => (await author.answer()) === 'calm', 20_000);
  });

  it('leaves nothing in the folder of the pack', async () => {
    const author = await develop();
    const files = (): Set<string> => new Set(readdirSync(author.pack.folder, { recursive: true, encoding: 'utf8' }));
    const before = files();
    const next = nextOf(author);
    author.pack.save(1);
    await next;
    expect(files()).toEqual(before);
    expect(readdirSync(packsFolder(author.folder))).toEqual(['billing']);
  });
});

describe('packs come and go', () => {
  it('one that appears is served, one that is taken away is refused, the others are left alone', async () => {
    const author = await develop();
    const crm = createTypeScriptPack(packsFolder(author.folder), 'crm', 'new');
    const tenantId = await tenantOf(author.loop, 'crm');
    expect(tenantId).not.toBe(author.tenantId);
    await author.loop.waitForRecord(servedOf(tenantId));
    expect(await answerOf(author.loop, tenantId, crm.toolId)).toBe('new');
    rmSync(crm.folder, { recursive: true });
    await author.loop.waitForRecord(({ event, tenant }) => event === 'pack-gone' && tenant === tenantId);
    await until(
      'it is refused',
      async () => (await answerOf(author.loop, tenantId, crm.toolId)) === 'pack-tenant-mismatch',
    );
    expect(await author.answer()).toBe(0);
    expect(
      author.loop.records().filter(({ event, tenant }) => event === 'swapped' && tenant === author.tenantId),
    ).toEqual([]);
  });

  it('a loop over an empty folder waits for the first one', async () => {
    const folder = temporaryFolder();
    const loop = await startDevLoop({ folder });
    await loop.waitForRecord(({ event }) => event === 'dev-no-pack');
    const pack = createTypeScriptPack(packsFolder(folder), 'first', 'here');
    const tenantId = await tenantOf(loop, 'first');
    await loop.waitForRecord(servedOf(tenantId));
    expect(await answerOf(loop, tenantId, pack.toolId)).toBe('here');
  });

  it('a pack has the same tenant every time, or the one that it is given', async () => {
    const author = await develop();
    author.loop.signal('SIGTERM');
    expect(await author.loop.exit).toEqual({ code: 0, signal: null });
    const again = await startDevLoop({ folder: author.folder });
    expect(await tenantOf(again, 'billing')).toBe(author.tenantId);
    again.signal('SIGTERM');
    await again.exit;
    const args = [packsFolder(author.folder), '--port', '0', '--tenant', 'billing=acme'];
    const named = await startDevLoop({ folder: author.folder, args });
    expect(await tenantOf(named, 'billing')).toBe('acme');
    await named.waitForRecord(servedOf('acme'));
    expect(await answerOf(named, 'acme', author.pack.toolId)).toBe(0);
  });
});

describe('the environment of a pack', () => {
  it('is that of its .env, read anew when it is saved; a broken one is told and changes nothing', async () => {
    const folder = temporaryFolder();
    const pack = createTypeScriptPack(packsFolder(folder), 'billing');
    const asked = "handler: () => ({ answer: process.env.GREETING ?? 'none' })";
    pack.write(`export default { id: 'billing.answer', description: 'd', input: {}, output: {}, ${asked} };\n`);
    writeFileSync(join(pack.folder, '.env'), 'GREETING=hello\n');
    const author = await develop({ folder, args: [packsFolder(folder), '--port', '0'] }, 'other');
    const tenantId = await tenantOf(author.loop, 'billing');
    await author.loop.waitForRecord(servedOf(tenantId));
    const greeting = (): Promise<unknown> => answerOf(author.loop, tenantId, pack.toolId);
    expect(await greeting()).toBe('hello');
    writeFileSync(join(pack.folder, '.env'), 'GREETING=good evening\n');
    await until('it is read anew', async () => (await greeting()) === 'good evening', 20_000);
    writeFileSync(join(pack.folder, '.env'), 'GREETING secret-value\n');
    const { problem } = await author.loop.waitForRecord(({ event }) => event === 'pack-problem');
    expect(problem).toContain('billing/.env: expected a dotenv file');
    expect(author.loop.output()).not.toContain('secret-value');
    expect(await greeting()).toBe('good evening');
  });
});

describe('one loop per folder, one port', () => {
  it('a second one says which process has it, and the first one goes on', async () => {
    const author = await develop();
    const second = await startDevLoop({ folder: author.folder, fails: true });
    expect((await second.exit).code).toBe(1);
    expect(second.output()).toContain(`another packgate dev (pid ${author.loop.pid}) has this folder`);
    expect(await author.answer()).toBe(0);
  });

  it('one that was killed leaves nothing behind, and the next takes its place', async () => {
    const author = await develop();
    const left = processesStartedIn(author.folder).filter((pid) => pid !== author.loop.pid);
    expect(left.length).toBeGreaterThan(1);
    const sockets = listeningSocketsOf(left);
    author.loop.signal('SIGKILL');
    await author.loop.exit;
    const next = await startDevLoop({ folder: author.folder });
    await next.waitForRecord(servedOf(author.tenantId));
    expect(processesStartedIn(author.folder).filter((pid) => left.includes(pid))).toEqual([]);
    expect(stillListening(sockets)).toEqual([]);
    expect(await answerOf(next, author.tenantId, author.pack.toolId)).toBe(0);
  });

  it('a token that is set is the one that callers send, and is told to nobody', async () => {
    const token = 'a-token-of-twenty-four-c';
    const author = await develop({ env: { PACKGATE_TOKEN: token } });
    expect(author.loop.output()).not.toContain(token);
    expect(await author.answer()).toBe('bad-token');
    expect(await answerOf({ ...author.loop, token }, author.tenantId, author.pack.toolId)).toBe(0);
  });

  it('takes a free port where the usual one is taken, and fails where the one that was asked for is', async () => {
    const folder = temporaryFolder();
    const holder = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void holder.close());
    await until('it listens', () => holder.listening);
    const taken = (holder.address() as AddressInfo).port;
    const packs = packsFolder(folder);
    const asked = await startDevLoop({ folder, args: [packs, '--port', String(taken)], fails: true });
    expect((await asked.exit).code).toBe(1);
    expect(asked.output()).toContain('Stop what listens there, or leave --port out.');
    // Whoever has the usual port here, if anybody: two loops cannot both have it.
    const [one, two] = [temporaryFolder(), temporaryFolder()];
    const first = await startDevLoop({ folder: one, args: [packsFolder(one)] });
    const second = await startDevLoop({ folder: two, args: [packsFolder(two)] });
    expect(first.address).not.toBe(second.address);
  });
});

describe('on a terminal', () => {
  it('Ctrl+C stops it: no process and no port is left, exit code 0', async () => {
    const folder = temporaryFolder();
    createTypeScriptPack(packsFolder(folder), 'billing');
    const loop = await startDevLoop({ folder, as: 'terminal' });
    await loop.waitForText(/billing {2}✓ serves after \d+ ms/);
    // Those that wait for the next save, too.
    const started = await until('all are up', () => {
      const pids = processesStartedIn(folder);
      return pids.length >= 5 && pids;
    });
    const sockets = listeningSocketsOf(started);
    expect(sockets.length).toBeGreaterThanOrEqual(2);
    loop.type('\x03');
    expect((await loop.exit).code).toBe(0);
    expect(processesStartedIn(folder)).toEqual([]);
    expect(stillListening(sockets)).toEqual([]);
    expect(plainText(loop.output())).toContain('stopping: calls under way may end');
  });

  it('a terminal that is closed leaves nothing behind', async () => {
    const folder = temporaryFolder();
    createTypeScriptPack(packsFolder(folder), 'billing');
    const loop = await startDevLoop({ folder, as: 'terminal' });
    await loop.waitForText(/billing {2}✓ serves/);
    const sockets = listeningSocketsOf(processesStartedIn(folder));
    expect(sockets).not.toEqual([]);
    loop.hangUp();
    await until('everybody is gone', () => processesStartedIn(folder).length === 0, 15_000);
    expect(stillListening(sockets)).toEqual([]);
  });

  it('shows a line a call under the name of its pack, and nothing of what a pack prints acts on the terminal', async () => {
    const folder = temporaryFolder();
    const pack = createTypeScriptPack(packsFolder(folder), 'billing');
    pack.write(
      [
        'export default {',
        "  id: 'billing.answer', description: 'd', input: { type: 'object' }, output: {},",
        "  handler: (_: unknown, ctx: any) => { console.log('\\u001b[2Jgone\\u0007'); ctx.log.warn('be\\u001b[31mware', { n: 1 }); return { answer: 1 }; },",
        '};',
      ].join('\n'),
    );
    const loop = await startDevLoop({ folder, as: 'terminal', env: { NO_COLOR: '1' } });
    await loop.waitForText(/✓ serves/);
    const [, tenantId = ''] = await loop.waitForText(/--tenant (\S+)/);
    expect(await answerOf(loop, tenantId, pack.toolId)).toBe(1);
    await loop.waitForText(/^billing {2}billing\.answer {2}ok {2}[\d.]+ ms$/m);
    await loop.waitForText(/^billing {2}\\u\{1b\}\[2Jgone\\u\{7\}$/m);
    await loop.waitForText(/^billing {2}! be\\u\{1b\}\[31mware n=1$/m);
    expect(await answerOf(loop, tenantId, 'billing.none')).toBeUndefined();
    await loop.waitForText(/^billing {2}billing\.none {2}tool-not-in-pack/m);
    expect(await answerOf(loop, 'somebody-else', pack.toolId)).toBe('pack-tenant-mismatch');
    await loop.waitForText(/^ +pack-tenant-mismatch 421/m);
    expect(loop.output()).not.toContain('\u001b');
  });
});

describe('the README', () => {
  const root = resolve(import.meta.dirname, '../..');
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const section = readme.slice(readme.indexOf('\n## Develop packs\n'));
  const [, transcript = ''] = /```text\n([\s\S]*?)```/.exec(section) ?? [];

  /** What differs from run to run: times, port, token, tenant, the author's home. */
  function withoutFigures(text: string): string {
    return text
      .replaceAll(/ [\d.]+ ms\b/g, ' 1 ms')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:8787')
      .replaceAll(/PACKGATE_TOKEN=\S+/g, 'PACKGATE_TOKEN=token')
      .replaceAll(/--tenant \S+/g, '--tenant id')
      .replaceAll(/\S+\/packs\/billing$/gm, '/packs/billing')
      .trimEnd();
  }

  it('shows what a terminal shows', async () => {
    const folder = temporaryFolder();
    const billing = join(packsFolder(folder), 'billing');
    cpSync(join(root, 'deploy/demo/packs/billing'), billing, { recursive: true });
    const loop = await startDevLoop({ folder, as: 'terminal' });
    const [, input = '', tenantId = ''] = await loop.waitForText(
      /invoke billing\.invoice '(.*)' --url .* --tenant (\S+)/,
    );
    const { status } = await invoke(loop, tenantId, { toolId: 'billing.invoice', input: JSON.parse(input) });
    expect(status).toBe(200);
    await loop.waitForText(/billing\.invoice {2}ok/);
    const vat = join(billing, 'lib', 'vat.ts');
    const good = readFileSync(vat, 'utf8');
    appendFileSync(vat, 'const none = 0;\n');
    await loop.waitForText(/saved, served after/);
    writeFileSync(vat, `${good}const none = ;\n`);
    await loop.waitForText(/SyntaxError/);
    writeFileSync(vat, good);
    await loop.waitForText(/mended, served after/);
    loop.type('\x03');
    expect((await loop.exit).code).toBe(0);
    const shown = plainText(loop.output()).replace(/^(?:Script|Session) .*\n?/gm, '');
    expect(withoutFigures(`$ packgate dev packs\n${shown}`)).toBe(withoutFigures(transcript));
  });
});
