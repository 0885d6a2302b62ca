import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TestGateway, TestGatewayOptions } from '../../../gateway/testing/testing.ts';
import { temporaryFolder, until } from '../../support/files.ts';
import {
  childrenOf,
  commandLineOf,
  killProcess,
  listeningSocketsOf,
  processesStartedIn,
} from '../../support/processes.ts';
import { createStubPack } from '../../support/stubPack.ts';
import { KIT_ENTRY, kit } from '../../support/testingKit.ts';

async function openGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const gateway = await kit.createGateway(options);
  onTestFinished(() => gateway.close());
  return gateway;
}

/** A program of its own that uses the kit, with `PATH` and a temporary folder that nobody else has. */
function startProgram(code: string) {
  const folder = temporaryFolder();
  const text = `import { createGateway, fakePackService } from ${JSON.stringify(KIT_ENTRY)};\n${code}`;
  const program = spawn(process.execPath, ['--input-type=module', '-e', text], {
    env: { PATH: process.env.PATH, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    program.kill('SIGKILL');
    processesStartedIn(folder).forEach(killProcess);
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    program[name].setEncoding('utf8').on('data', (piece: string) => (printed[name] += piece));
  }
  return { program, folder, printed, exit: once(program, 'close') as Promise<[number | null, string | null]> };
}

/** One that has ended and that nobody has asked about yet has no command line any more. */
const isRunning = (pid: number): boolean => commandLineOf(pid).join('') !== '';

describe('a gateway in a test', () => {
  it('any number of them run side by side, each with its own port and tenants', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const gateways = await Promise.all(
      names.map((name) =>
        openGateway({ tenants: { same: kit.fakePackService({ tools: { 'who.am-i': { result: name } } }) } }),
      ),
    );
    expect(new Set(gateways.map(({ url }) => url)).size).toBe(names.length);
    const answers = await Promise.all(gateways.map((gateway) => gateway.client('same').invoke('who.am-i')));
    answers.forEach((answer, at) => kit.assertResult(answer, names[at]));
    kit.assertResult(await gateways[0]!.client('same').invoke('who.am-i'), 'a');
    const foreign = gateways[0]!.client('same', { token: gateways[1]!.token });
    expect((await foreign.invoke('who.am-i')).status).toBe(401);
  });

  it('hosts packs from folders, programs and fakes; paths count from the folder that is given', async () => {
    const folder = temporaryFolder();
    const stub = createStubPack(folder, 'stub');
    const { command } = stub.deployment() as { command: string[] };
    const gateway = await openGateway({
      folder,
      tenants: {
        folder: { pack: kit.packs.echo },
        program: { command, path: 'stub' },
        several: { packs: { one: { path: kit.packs.echo, default: true }, two: { path: kit.packs.echo } } },
        fake: kit.fakePackService(),
      },
      tokens: [{ token: 'to-the-second-pack-0123', tenants: ['several'], deployment: 'two' }],
    });
    const say = { message: 'hi' };
    kit.assertResult(await gateway.client('folder').invoke('echo.say', say), say);
    kit.assertResult(await gateway.client('program').invoke('stub.act', {}));
    kit.assertResult(await gateway.client('several').invoke('echo.say', say), say);
    const second = gateway.client('several', { token: 'to-the-second-pack-0123' });
    kit.assertResult(await second.invoke('echo.say', say), say);
    kit.assertResult(await gateway.client('fake').invoke('fake.echo', say), say);
    expect(gateway.records.map(({ tenant, deployment }) => `${tenant}/${deployment}`)).toEqual([
      'folder/default',
      'program/default',
      'several/one',
      'several/two',
      'fake/default',
    ]);
    expect(gateway.status('several').deployment).toBe('one');
    expect(gateway.status('several', 'two').deployment).toBe('two');
  });

  it('knows of every call when its caller has the answer', async () => {
    const fake = kit.fakePackService();
    const gateway = await openGateway({ tenants: { acme: fake } });
    const client = gateway.client('acme');
    for (let call = 1; call <= 50; call += 1) {
      await client.invoke('fake.echo', call, call % 5 === 0 ? { asTenant: 'other' } : {});
      expect(gateway.records).toHaveLength(call);
    }
    expect(gateway.records[0]).toMatchObject({ tenant: 'acme', instance: 'default#1', status: 200, handedOver: 'yes' });
    expect(gateway.records[4]).toMatchObject({ status: 421, code: 'pack-tenant-mismatch', handedOver: 'no' });
  });

  it('takes the orders of operators, and says why one failed', async () => {
    const fake = kit.fakePackService();
    const gateway = await openGateway({ tenants: { acme: fake } });
    const client = gateway.client('acme');
    await gateway.start('acme');
    expect(gateway.status('acme')).toMatchObject({ state: 'ready', serving: { name: 'default#1' } });
    await gateway.restart('acme');
    kit.assertResult(await client.invoke('fake.echo'));
    await gateway.stop('acme');
    kit.assertTryAgain(await client.invoke('fake.echo'), 'stopped');
    await gateway.start('acme');
    kit.assertResult(await client.invoke('fake.echo'));
    fake.nextStart({ problems: ['no such module x'] });
    await expect(gateway.reload('acme')).rejects.toThrow(/reload of acme failed.*no such module x/s);
    kit.assertResult(await client.invoke('fake.echo'));
    expect(() => gateway.status('nobody')).toThrow('expected a deployment that is hosted (acme/default), got nobody/');
  });

  it('refuses options that make no configuration, with all that is wrong', async () => {
    const fake = kit.fakePackService();
    const opened = kit.createGateway({
      tenants: { acme: fake, other: { pack: 'no/such/folder' } },
      defaults: { idel: '1s' },
      faults: [{ fault: 'late' }],
    });
    const { message } = (await opened.catch((error: unknown) => error)) as Error;
    expect(message.split('\n')).toEqual([
      'the gateway cannot be opened:',
      expect.stringMatching(/^createGateway: tenants.other.pack: expected .*, got "no\/such\/folder"/),
      'createGateway: defaults.idel: expected a known key, got "idel". Did you mean "idle"?',
      'createGateway: faults[0].ms: expected how late, in milliseconds, got nothing',
    ]);
    // The fake is free again.
    kit.assertResult(await (await openGateway({ tenants: { acme: fake } })).client('acme').invoke('fake.echo'));
  });

  it('a fake is with one gateway at a time', async () => {
    const fake = kit.fakePackService();
    await openGateway({ tenants: { acme: fake } });
    await expect(kit.createGateway({ tenants: { acme: fake } })).rejects.toThrow('one gateway at a time');
  });

  it('prints nothing, unless it is given where to', async () => {
    const quiet = startProgram(`
      const gateway = await createGateway({ tenants: { acme: fakePackService() } });
      await gateway.client('acme').invoke('fake.echo');
      await gateway.close();
    `);
    expect(await quiet.exit).toEqual([0, null]);
    expect(quiet.printed).toEqual({ stdout: '', stderr: '' });
    const loud = startProgram(`
      const fake = fakePackService({ start: { log: ['words of the pack'] } });
      const gateway = await createGateway({ tenants: { acme: fake }, log: process.stderr });
      await gateway.client('acme').invoke('fake.echo');
      await gateway.close();
    `);
    expect(await loud.exit).toEqual([0, null]);
    expect(loud.printed.stdout).toBe('');
    expect(loud.printed.stderr).toMatch(/"event":"call"/);
    expect(loud.printed.stderr).toContain('words of the pack');
  });
});

describe('a gateway in a worker thread', () => {
  it('runs like any other, and is gone with its thread', async () => {
    const worker = `
      import { parentPort, workerData } from 'node:worker_threads';
      import { createGateway, fakePackService } from ${JSON.stringify(KIT_ENTRY)};
      const gateway = await createGateway({ tenants: { acme: fakePackService() } });
      const { status } = await gateway.client('acme').invoke('fake.echo');
      if (workerData === 'close') await gateway.close();
      parentPort.postMessage(status);
    `;
    const { exit, printed, folder } = startProgram(`
      import { once } from 'node:events';
      import { Worker } from 'node:worker_threads';
      for (const how of ['close', 'leave']) {
        const thread = new Worker(${JSON.stringify(worker)}, { eval: true, workerData: how });
        const [status] = await once(thread, 'message');
        console.log(how, status);
        await thread.terminate();
      }
    `);
    const [code] = await exit;
    expect({ code, ...printed }).toEqual({ code: 0, stdout: 'close 200\nleave 200\n', stderr: '' });
    await until('everything it started is gone', () => processesStartedIn(folder).length === 0);
  });
});

describe('what a gateway in a test leaves behind', () => {
  it('closed: no process, no port, no folder, no handler of a signal, and nothing that keeps the runner alive', async () => {
    const { exit, printed, folder } = startProgram(`
      const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'exit'];
      const handlers = () => signals.map((name) => process.listenerCount(name));
      await createGateway({ tenants: { acme: fakePackService(), other: { pack: 'no/such' } } }).catch(() => undefined);
      const before = handlers();
      for (let round = 0; round < 3; round += 1) {
        const gateway = await createGateway({ tenants: { acme: fakePackService() } });
        await gateway.client('acme').invoke('fake.echo');
        if (round === 0) console.log(JSON.stringify([before, handlers()]));
        if (round === 1) await gateway[Symbol.asyncDispose]();
        await Promise.all([gateway.close(), gateway.close()]);
      }
    `);
    // It ends by itself: nothing tells it to.
    expect(await exit).toEqual([0, null]);
    expect(printed.stderr).toBe('');
    const [before, during] = JSON.parse(printed.stdout) as [number[], number[]];
    expect(during).toEqual(before);
    expect(processesStartedIn(folder)).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('close does not wait for a call that never ends', async () => {
    const fake = kit.fakePackService({ tools: { 'never.ends': { instead: 'nothing' } } });
    const gateway = await openGateway({ tenants: { acme: fake } });
    const call = gateway.client('acme').invoke('never.ends');
    const outcome = call.then(
      ({ status }) => status,
      (error: Error) => error.name,
    );
    const pid = (await fake.received(1))[0]?.pid;
    const from = performance.now();
    await gateway.close({ graceMs: 200 });
    expect(performance.now() - from).toBeLessThan(3_000);
    expect([500, 'BrokenAnswer']).toContain(await outcome);
    expect(pid !== undefined && isRunning(pid)).toBe(false);
  });

  it(
    'killed with its runner by SIGKILL: no process and no port, each of five times',
    { timeout: 120_000 },
    async () => {
      for (let round = 0; round < 5; round += 1) {
        const { program, printed, exit } = startProgram(`
        const fakes = [fakePackService(), fakePackService()];
        const gateway = await createGateway({ tenants: { a: fakes[0], b: fakes[1] } });
        await Promise.all(['a', 'b'].map((tenant) => gateway.client(tenant).invoke('fake.echo')));
        console.log('serving');
      `);
        await until('it serves', () => printed.stdout.includes('serving'), 15_000);
        const pids = childrenOf(program.pid ?? 0);
        const sockets = listeningSocketsOf(pids);
        expect(pids.length).toBeGreaterThanOrEqual(3);
        expect(sockets).toHaveLength(2);
        program.kill('SIGKILL');
        await exit;
        await until('everything it started is gone', () => !pids.some(isRunning));
        expect(listeningSocketsOf(pids)).toEqual([]);
      }
    },
  );
});
