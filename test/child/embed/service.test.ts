import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { existsSync, readdirSync } from 'node:fs';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { createPackService } from '../../../child/embed/service.ts';
import type { PackService, PackServiceOptions } from '../../../child/embed/service.ts';
import { indexOf, makeFolder, toolEntry } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { info, invoke, post } from '../support/http.ts';
import { TOKEN } from '../support/child.ts';

let folder: Folder;
const open = new Set<PackService>();

beforeEach(() => {
  folder = makeFolder();
  folder.write('tools/echo.mjs', 'export default { handler: (input) => input };');
  folder.write('tools/held.mjs', HELD);
  folder.write('tools/typed.ts', 'enum Word { yes = "ja" }\nexport default { handler: (): string => Word.yes };');
  vi.stubEnv('TMPDIR', folder.file('temporary'));
  folder.write('temporary/.keep', '');
});

afterEach(async () => {
  for (const service of open) {
    void service.close();
    await service.close();
  }
  open.clear();
  vi.unstubAllEnvs();
  folder.remove();
});

/** Says that it runs, and ends when it is told to. */
const HELD = `import { EventEmitter, once } from 'node:events';
export const gate = (globalThis[Symbol.for('test.gate')] ??= new EventEmitter());
export default { handler: async () => { gate.emit('running'); await once(gate, 'open'); return 'done'; } };
`;
const gate = (): NodeJS.EventEmitter => (globalThis as Record<symbol, unknown>)[Symbol.for('test.gate')] as never;

function packIndex(more: object = {}): object {
  const tools = ['echo.mjs', 'held.mjs', 'typed.ts'].map((name) =>
    toolEntry(`acme.${name.split('.')[0]}`, `tools/${name}`),
  );
  return indexOf({ tools, ...more });
}

async function create(options: Partial<PackServiceOptions> = {}): Promise<PackService> {
  const all = { index: packIndex(), moduleRoot: folder.path, token: TOKEN, ...options } as PackServiceOptions;
  const service = await createPackService(all);
  open.add(service);
  return service;
}

const temporary = (): string[] => readdirSync(folder.file('temporary')).filter((name) => name !== '.keep');

describe('a pack service in this process', () => {
  test('D28 D29: answers like the process form, and says what it serves without being asked', async () => {
    const index = folder.write('index.json', packIndex());
    const service = await create({ index: undefined, indexPath: index, moduleRoot: undefined } as never);
    const { port } = await service.listen();
    expect((await info(port)).json).toEqual(service.info);
    expect(service.info).toMatchObject({
      packId: 'acme',
      tools: expect.arrayContaining([{ id: 'acme.echo', version: '1.0.0' }]),
    });
    expect((await post(port, invoke('acme.echo', { a: 1 }))).json).toEqual({ v: 2, kind: 'result', output: { a: 1 } });
    expect((await post(port, invoke('acme.typed'))).json).toMatchObject({ output: 'ja' });
    expect((await post(port, invoke('acme.echo'), { headers: { 'kindgi-pack-token': 'wrong' } })).status).toBe(401);
  });

  test('B1: several live side by side, each with its own token, tenant and limits', async () => {
    const services = await Promise.all([
      create({ tenantId: 'tenant-a' }),
      create({ tenantId: 'tenant-b', token: 'another' }),
      create({ maxConcurrency: 1 }),
    ]);
    const [a, b, c] = (await Promise.all(services.map((service) => service.listen()))).map(({ port }) => port);
    const headers = { 'kindgi-tenant-id': 'tenant-a' };
    expect((await post(a ?? 0, invoke('acme.echo'), { headers })).status).toBe(200);
    expect((await post(b ?? 0, invoke('acme.echo'), { headers })).status).toBe(401);
    const other = { ...headers, 'kindgi-pack-token': 'another' };
    expect((await post(b ?? 0, invoke('acme.echo'), { headers: other })).status).toBe(421);

    const running = post(c ?? 0, invoke('acme.held'));
    await once(gate(), 'running');
    expect((await post(c ?? 0, invoke('acme.echo'))).status).toBe(503);
    expect((await post(a ?? 0, invoke('acme.echo'), { headers })).status).toBe(200);
    gate().emit('open');
    expect((await running).json).toMatchObject({ output: 'done' });
  });

  test('C29 A9: close refuses new calls, lets the one under way end, and then the port is free', async () => {
    const service = await create();
    const { port } = await service.listen();
    const running = post(port, invoke('acme.held'));
    await once(gate(), 'running');
    const closed = service.close();
    await vi.waitUntil(async () => (await post(port, invoke('acme.echo'))).status === 503);
    gate().emit('open');
    expect((await running).json).toMatchObject({ output: 'done' });
    await closed;
    await expect(post(port, invoke('acme.echo'))).rejects.toThrow(/ECONNREFUSED/);
    await expect(service.listen()).rejects.toThrow(/closed/);
  });

  test('C35: closed a second time, it cuts the call under way', async () => {
    const service = await create();
    const { port } = await service.listen();
    const running = post(port, invoke('acme.held'));
    await once(gate(), 'running');
    const closed = [service.close(), service.close()];
    await expect(running).rejects.toThrow(/socket hang up|ECONNRESET/);
    await Promise.all(closed);
    gate().emit('open');
  });

  test('C6 C8: neither environment nor signal handlers of the process are touched', async () => {
    vi.stubEnv('ACME_UNDECLARED', 'stays');
    const before = { env: { ...process.env }, signals: signalListeners() };
    const env = { required: ['ACME_KEY'], optional: [] };
    const service = await create({ index: packIndex({ env }) } as never);
    await service.listen();
    expect({ env: { ...process.env }, signals: signalListeners() }).toEqual(before);
    await service.close();
    expect({ env: { ...process.env }, signals: signalListeners() }).toEqual(before);
  });

  test('C17: required variables are looked for where the options say, and nowhere else', async () => {
    const index = packIndex({ env: { required: ['ACME_KEY'], optional: [] } });
    const answers = async (options: Partial<PackServiceOptions>): Promise<unknown> => {
      const service = await create({ ...options, index } as never);
      const { port } = await service.listen();
      return [(await post(port, invoke('acme.echo'))).status, service.info.missingEnv];
    };
    expect(await answers({})).toEqual([200, []]);
    expect(await answers({ env: { ACME_KEY: 'k' } })).toEqual([200, []]);
    expect(await answers({ env: {} })).toEqual([503, ['ACME_KEY']]);
    expect(await answers({ env: {}, envCheck: 'warn' })).toEqual([200, ['ACME_KEY']]);
  });

  test('C12 C13: what is wrong with options, index or modules is told all at once, in the names of the options', async () => {
    const problems = async (options: object): Promise<readonly string[]> => {
      const error: unknown = await create(options).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'BootFailure' });
      return (error as { problems: readonly string[] }).problems;
    };
    expect(await problems({ token: '', tenantId: ' ', maxConcurrency: 0 })).toEqual([
      expect.stringMatching(/^`token` is required/),
      expect.stringMatching(/^`maxConcurrency`: expected a whole number of at least 1/),
      expect.stringMatching(/^`tenantId`: expected an id/),
    ]);
    expect(await problems({ index: undefined })).toEqual([expect.stringContaining('either `index` or `indexPath`')]);
    const missing = [toolEntry('acme.a', 'tools/a.mjs'), toolEntry('acme.b', '../b.mjs')];
    expect(await problems({ index: indexOf({ tools: missing }) })).toEqual([
      'Missing module: tools/a.mjs',
      expect.stringContaining('../b.mjs'),
    ]);
    expect(temporary()).toEqual([]);
  });

  test('C15: a taken address is told, and another one may be tried', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const service = await create();
    await expect(service.listen((other.address() as AddressInfo).port)).rejects.toThrow(/EADDRINUSE/);
    const { port } = await service.listen();
    expect((await post(port, invoke('acme.echo'))).status).toBe(200);
    other.close();
  });

  test('F18: what it builds goes with it, and stays where a folder is given for it', async () => {
    const service = await create();
    expect(temporary()).toHaveLength(1);
    await service.close();
    expect(temporary()).toEqual([]);
    const kept = await create({ buildDir: folder.file('kept') });
    await kept.close();
    expect(existsSync(folder.file('kept/tools'))).toBe(true);
  });

  test('C18 C20: its records go to the given function, and to nobody without one', async () => {
    const stderr = vi.spyOn(process.stderr, 'write');
    const lines: string[] = [];
    const silent = await create();
    const told = await create({ log: (line) => lines.push(line) });
    for (const service of [silent, told]) {
      const { port } = await service.listen();
      await post(port, invoke('acme.echo'));
      await service.close();
    }
    expect(stderr).not.toHaveBeenCalled();
    stderr.mockRestore();
    const events = lines.map((line) => (JSON.parse(line) as { event: string }).event);
    expect(events).toEqual(['listening', 'call', 'draining', 'stopped']);
  });
});

function signalListeners(): number[] {
  return ['SIGTERM', 'SIGINT', 'SIGHUP', 'beforeExit', 'exit'].map((name) => process.listenerCount(name));
}
