// `packgate dev --inspect`: a debugger's address that outlives the processes behind it.
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { invoke } from '../support/calls.ts';
import { packsFolder, startDevLoop } from '../support/devLoop.ts';
import type { RunningLoop } from '../support/devLoop.ts';
import { createTypeScriptPack } from '../support/devPacks.ts';
import type { DevPack } from '../support/devPacks.ts';
import { temporaryFolder, until } from '../support/files.ts';
import { InspectorClient } from '../support/inspectorClient.ts';

vi.setConfig({ testTimeout: 90_000 });

interface Debugged {
  readonly loop: RunningLoop;
  readonly pack: DevPack;
  readonly tenantId: string;
  /** Where a debugger connects to. */
  readonly inspectorAddress: string;
}

async function develop(prepare: (pack: DevPack) => void = () => undefined): Promise<Debugged> {
  const folder = temporaryFolder();
  const pack = createTypeScriptPack(packsFolder(folder), 'billing');
  prepare(pack);
  const loop = await startDevLoop({ folder, args: [packsFolder(folder), '--port', '0', '--inspect-port', '0'] });
  const { address, tenant } = await loop.waitForRecord(({ event }) => event === 'dev-inspect');
  return { loop, pack, tenantId: String(tenant), inspectorAddress: String(address) };
}

async function connect(address: string): Promise<InspectorClient> {
  const client = await InspectorClient.connect(address);
  onTestFinished(() => client.close());
  return client;
}

/** The line in the tool at which it has its answer. */
const LINE = 11;

async function hit({ loop, pack, tenantId, inspectorAddress }: Debugged, expected: unknown): Promise<InspectorClient> {
  const client = await connect(inspectorAddress);
  await client.breakAt(`billing/${pack.file}`, LINE);
  const calling = invoke(loop, tenantId, { toolId: pack.toolId, timeoutMs: 300 });
  await until('it hits', () => client.pauses.length === 1);
  expect(client.pauses[0]).toMatch(new RegExp(`billing/${pack.file}:${LINE}$`));
  // Longer than the call may take, on both sides.
  const evaluated = await client.ask('Runtime.evaluate', { expression: 'Date.now()' });
  const from = Number((evaluated.result as { value: number }).value);
  await until('the deadline has passed', () => Date.now() - from > 1_000);
  await client.ask('Debugger.resume');
  expect((await calling).json).toMatchObject({ kind: 'result', output: { answer: expected } });
  return client;
}

describe('a debugger', () => {
  it('hits a breakpoint in a TypeScript tool; after a swap it connects to the same address, and hits again', async () => {
    const debugged = await develop();
    await debugged.loop.waitForRecord(({ event }) => event === 'pack-served');
    const client = await hit(debugged, 0);
    for (const version of [1, 2]) {
      const from = debugged.loop.records().length;
      debugged.pack.save(version);
      await debugged.loop.waitForRecord(({ event }) => event === 'pack-served', from);
    }
    await until('the debugger of the old process is let go', () => !client.isOpen, 5_000);
    const next = await hit(debugged, 2);
    expect(next.pauses).toEqual(client.pauses);
  });

  it('a call has its deadline as long as nobody debugs, and again when nobody does any more', async () => {
    const slow = 'handler: async () => { await new Promise((done) => setTimeout(done, 1_500)); return {}; }';
    const debugged = await develop(({ write }) =>
      write(`export default { id: 'billing.answer', description: 'd', input: {}, output: {}, ${slow} };\n`),
    );
    await debugged.loop.waitForRecord(({ event }) => event === 'pack-served');
    const { loop, tenantId, pack, inspectorAddress } = debugged;
    const call = async (): Promise<unknown> => {
      const { json } = await invoke(loop, tenantId, { toolId: pack.toolId, timeoutMs: 200 });
      return json.code ?? json.kind;
    };
    expect(await call()).toBe('deadline-exceeded');
    const client = await connect(inspectorAddress);
    expect(await call()).toBe('result');
    client.close();
    await until('it counts again', async () => (await call()) === 'deadline-exceeded', 10_000);
  });

  it('that comes while nothing runs waits for the process that comes next', async () => {
    let mend: () => void = () => undefined;
    const debugged = await develop(({ folder }) => {
      const file = join(folder, 'kindgi.config.ts');
      const text = readFileSync(file, 'utf8');
      mend = () => writeFileSync(file, text);
      writeFileSync(file, 'export default {;');
    });
    await debugged.loop.waitForRecord(({ event, isServing }) => event === 'pack-broken' && isServing === false);
    let isIn = false;
    const connecting = connect(debugged.inspectorAddress).then((client) => {
      isIn = true;
      return client;
    });
    const from = performance.now();
    await until('it waits', () => isIn || performance.now() - from > 300);
    expect(isIn).toBe(false);
    mend();
    expect((await connecting).isOpen).toBe(true);
  });

  it('is led to the process that serves, after one that should have followed it failed', async () => {
    const debugged = await develop();
    const { loop, pack } = debugged;
    await loop.waitForRecord(({ event }) => event === 'pack-served');
    pack.save(1, "if (process.argv.includes('serve')) throw new Error('only when it serves');");
    await loop.waitForRecord(({ event, isServing }) => event === 'pack-broken' && isServing === true);
    await until('the failed one is gone', () => loop.records().some(({ event }) => event === 'instance-exited'));
    await hit(debugged, 0);
    expect(loop.records().filter(({ event }) => event === 'start-failed')).toHaveLength(1);
  });

  it('stopped at a breakpoint does not keep Ctrl+C from ending everything', async () => {
    const debugged = await develop();
    await debugged.loop.waitForRecord(({ event }) => event === 'pack-served');
    const client = await connect(debugged.inspectorAddress);
    await client.breakAt(`billing/${debugged.pack.file}`, LINE);
    const calling = invoke(debugged.loop, debugged.tenantId, { toolId: debugged.pack.toolId }).catch(() => undefined);
    await until('it hits', () => client.pauses.length === 1);
    const from = performance.now();
    debugged.loop.signal('SIGINT');
    expect((await debugged.loop.exit).code).toBe(0);
    expect(performance.now() - from).toBeLessThan(8_000);
    await calling;
  });
});

describe('who gets in', () => {
  function ask(
    address: string,
    options: { readonly path: string; readonly method?: string; readonly headers?: Readonly<Record<string, string>> },
    body?: string,
  ): Promise<number> {
    const { hostname, port } = new URL(address);
    return new Promise((resolve, reject) => {
      const outgoing = request({ host: hostname, port, ...options }, (response: IncomingMessage) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      outgoing.on('upgrade', (_, socket) => {
        socket.destroy();
        resolve(101);
      });
      outgoing.on('error', reject).end(body);
    });
  }

  const UPGRADE = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
  };

  it('programs on this machine, by exact paths; no page of a browser, no request with a body', async () => {
    const { loop, inspectorAddress: address } = await develop();
    await loop.waitForRecord(({ event }) => event === 'pack-served');
    const { pathname: path } = new URL(address);
    expect(await ask(address, { path, headers: UPGRADE })).toBe(101);
    expect(await ask(address, { path, headers: { ...UPGRADE, host: 'evil.example' } })).toBe(403);
    expect(await ask(address, { path, headers: { ...UPGRADE, origin: 'https://evil.example' } })).toBe(403);
    expect(await ask(address, { path, headers: { ...UPGRADE, origin: 'devtools://devtools' } })).toBe(101);
    expect(await ask(address, { path: `${path}x`, headers: UPGRADE })).toBe(404);
    expect(await ask(address, { path, headers: { ...UPGRADE, 'content-length': '5' } }, 'GET /')).toBe(403);
    expect(await ask(address, { path: '/json/list' })).toBe(200);
    expect(await ask(address, { path: '/json/list', headers: { host: 'evil.example' } })).toBe(403);
    expect(await ask(address, { path: '/json/list', headers: { 'transfer-encoding': 'chunked' } }, 'GET /')).toBe(403);
    expect(await ask(address, { path: '/json/protocol' })).toBe(200);
    expect(await ask(address, { path: '/json/version', method: 'PUT' })).toBe(405);
    expect(await ask(address, { path: '/json/new' })).toBe(404);
  });

  it('the list names each pack with its address', async () => {
    const { inspectorAddress: address } = await develop();
    const { host } = new URL(address);
    const list = await new Promise<unknown>((resolve, reject) => {
      request(`http://${host}/json`, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('end', () => resolve(JSON.parse(text)));
      })
        .on('error', reject)
        .end();
    });
    expect(list).toMatchObject([{ type: 'node', title: 'billing', webSocketDebuggerUrl: address }]);
  });
});
