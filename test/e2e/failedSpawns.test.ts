// A program that cannot be started is a failed start with a reason, whatever is in its way: its callers may try again, its
// neighbours notice nothing, and when it is mended the next start works.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { invoke } from '../support/calls.ts';
import { expectRan, expectTryAgain } from '../support/expectations.ts';
import { temporaryFolder, until } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway, GatewayOptions } from '../support/gateway.ts';
import { childrenOf, commandLineOf, descriptorCount, killProcess } from '../support/processes.ts';
import { createStubPack, STUB } from '../support/stubPack.ts';

const SOON = { min: '50ms', max: '100ms' };
const CALLS_PACK = fileURLToPath(new URL('../fixtures/packs/node-calls', import.meta.url));
const GOOD = `#!/bin/sh\nexec "${process.execPath}" "${STUB}" "$@"\n`;

interface Place {
  readonly program: string;
  readonly packFolder: string;
}

/** What is done to a program or its folder, and what an operator is told of it. */
const SHAPES: { name: string; damage: (place: Place) => void; reason: RegExp }[] = [
  {
    name: 'a missing program',
    damage: ({ program }) => rmSync(program),
    reason: /run\.sh .*does not exist \(ENOENT\)/,
  },
  {
    name: 'no permission',
    damage: ({ program }) => chmodSync(program, 0o644),
    reason: /run\.sh may not be executed \(EACCES\)/,
  },
  {
    name: 'a missing interpreter',
    damage: ({ program }) => writeFileSync(program, '#!/no/such/shell\n'),
    reason: /the interpreter "\/no\/such\/shell" of .*run\.sh/,
  },
  {
    name: 'an interpreter that is nowhere in PATH',
    damage: ({ program }) => writeFileSync(program, '#!/usr/bin/env no-such-node\n'),
    reason: /the interpreter "no-such-node" of .*run\.sh/,
  },
  {
    name: 'bytes that are no program',
    damage: ({ program }) => writeFileSync(program, Buffer.from([0x7f, 0x45, 0, 0xff, 0xfe])),
    reason: /neither a program of this machine nor a script \(ENOEXEC\)/,
  },
  {
    name: 'a folder in its place',
    damage: ({ program }) => execFileSync('sh', ['-c', 'rm "$0" && mkdir "$0"', program]),
    reason: /run\.sh is a folder \(EACCES\)/,
  },
  {
    name: 'a working folder that was removed',
    damage: ({ packFolder }) => renameSync(packFolder, `${packFolder}.gone`),
    reason: /its folder .* does not exist \(ENOENT\)/,
  },
];

describe('a program that cannot be started', () => {
  it.each(SHAPES)(
    'because of $name fails its start, is told apart, and is started when it is mended',
    async (shape) => {
      const folder = temporaryFolder();
      const packFolder = join(folder, 'pack', 'broken');
      const place = { program: join(folder, 'run.sh'), packFolder };
      const mend = (): void => {
        rmSync(place.program, { recursive: true, force: true });
        writeFileSync(place.program, GOOD, { mode: 0o755 });
        if (readdirSync(join(folder, 'pack')).includes('broken.gone')) renameSync(`${packFolder}.gone`, packFolder);
      };
      const broken = createStubPack(join(folder, 'pack'), 'broken');
      const index = join(folder, 'index.json');
      execFileSync('cp', [join(packFolder, 'index.json'), index]);
      mend();
      const { gateway, tenantId, neighbour } = await hostBeside(folder, {
        ...broken.deployment({ command: [place.program] }),
        index,
        restart: SOON,
      });
      shape.damage(place);
      const answers = await Promise.all(Array.from({ length: 5 }, () => invoke(gateway, tenantId)));
      for (const answer of answers) expectTryAgain(answer, 'cooling');
      const failed = await gateway.waitForRecord(({ event }) => event === 'start-failed');
      expect(failed).toMatchObject({ tenant: tenantId, step: 'launch', code: 'spawn-failed' });
      expect(failed.message).toMatch(shape.reason);
      expect(failed.message).toContain(`${place.program} cannot be started`);
      mend();
      const served = await until('it is served', async () => {
        const answer = await invoke(gateway, tenantId);
        return answer.status === 200 && answer;
      });
      expect(expectRan(served).start).toBe(1);
      await neighbour.expectUntouched();
      expect((await gateway.stop()).code).toBe(0);
    },
  );

  it('because the indexer has no program fails in the same way', async () => {
    const folder = temporaryFolder();
    const program = join(folder, 'node.sh');
    const mend = (): void => writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 });
    mend();
    const deployment = { pack: CALLS_PACK, runtime: 'node', node: program, restart: SOON };
    const { gateway, tenantId, neighbour } = await hostBeside(folder, deployment);
    rmSync(program);
    expectTryAgain(await invoke(gateway, tenantId), 'cooling');
    const failed = await gateway.waitForRecord(({ event }) => event === 'start-failed');
    expect(failed).toMatchObject({ tenant: tenantId, step: 'index', code: 'spawn-failed' });
    expect(failed.message).toContain(`${program} cannot be started: it does not exist (ENOENT)`);
    mend();
    const call = { toolId: 'calls.echo', input: { message: 'hello' } };
    const served = await until('it is served', async () => {
      const answer = await invoke(gateway, tenantId, call);
      return answer.status === 200 && answer;
    });
    expect(served.json).toMatchObject({ kind: 'result', output: { message: 'hello' } });
    await neighbour.expectUntouched();
  });

  it('because its environment is too large fails each start in the same way', async () => {
    const folder = temporaryFolder();
    const pack = createStubPack(folder, 'huge');
    const env = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`LARGE_${at}`, 'x'.repeat(100_000)]));
    const { gateway, tenantId, neighbour } = await hostBeside(folder, pack.deployment({ env, restart: SOON }));
    const before = descriptorCount(gateway.pid);
    await until('five starts have failed', async () => {
      expectTryAgain(await invoke(gateway, tenantId), 'cooling');
      return failuresOf(gateway).length >= 5;
    });
    for (const { message } of failuresOf(gateway)) {
      expect(message).toMatch(/larger than this machine takes\. Shorten env: .*\(E2BIG\)/);
    }
    await neighbour.expectUntouched();
    await until('no descriptor is kept', () => descriptorCount(gateway.pid) <= before + 1);
    expect(pack.starts()).toEqual([]);
  });

  it('because no process is left to its user is started when there is one', async ({ skip }) => {
    skip(
      process.getuid?.() !== 0,
      'a limit of processes binds none but users without privileges, and only root can become one',
    );
    const folder = temporaryFolder();
    const pack = createStubPack(folder, 'cold');
    const { gateway, tenantId, neighbour } = await hostBeside(folder, pack.deployment({ restart: SOON }), (parent) => {
      giveAway(parent, OTHER_USER);
      return { prefix: AS_OTHER_USER };
    });
    limitProcesses(gateway.pid, '1:');
    expectTryAgain(await invoke(gateway, tenantId), 'cooling');
    const failed = await gateway.waitForRecord(({ event }) => event === 'start-failed');
    expect(failed).toMatchObject({ tenant: tenantId, code: 'spawn-failed' });
    expect(failed.message).toMatch(/no further process may run here\. Raise the limit .*\(EAGAIN\)/);
    await neighbour.expectUntouched();
    // A watchdog that ends now cannot be replaced until there is room for it.
    killProcess(await watchdogOf(gateway));
    await gateway.waitForRecord(({ event, exit }) => event === 'watchdog-ended' && kindOf(exit) === 'spawn-failed');
    limitProcesses(gateway.pid, '10000:');
    await until('it is served', async () => (await invoke(gateway, tenantId)).status === 200);
    await watchdogOf(gateway);
    await neighbour.expectUntouched();
  });
});

/** Nobody else's, here. */
const OTHER_USER = 61_234;

const AS_OTHER_USER = [
  'setpriv',
  '--reuid',
  String(OTHER_USER),
  '--regid',
  String(OTHER_USER),
  '--clear-groups',
] as const;

/** The soft limit alone, so that it can be raised again. A process's own user may do that. */
function limitProcesses(pid: number, limit: string): void {
  const [program, ...args] = AS_OTHER_USER;
  execFileSync(program, [...args, 'prlimit', '--pid', String(pid), `--nproc=${limit}`]);
}

function giveAway(folder: string, user: number): void {
  chownSync(folder, user, user);
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    chownSync(join(folder, name), user, user);
}

function watchdogOf(gateway: Gateway): Promise<number> {
  const isWatchdog = (pid: number): boolean => commandLineOf(pid).includes('packgate-watchdog');
  return until('a watchdog', () => childrenOf(gateway.pid).find(isWatchdog), 5_000);
}

function kindOf(exit: unknown): unknown {
  return (exit as { kind?: unknown } | undefined)?.kind;
}

function failuresOf(gateway: Gateway) {
  return gateway.records.filter(({ event }) => event === 'start-failed');
}

/** A gateway that hosts a deployment and, beside it, a healthy neighbour that is already up. */
async function hostBeside(
  folder: string,
  deployment: Readonly<Record<string, unknown>>,
  prepare: (folder: string) => Partial<GatewayOptions> = () => ({}),
) {
  const tenantId = randomUUID();
  const neighbourId = randomUUID();
  const neighbour = createStubPack(folder, 'neighbour');
  const tenants = { [tenantId]: deployment, [neighbourId]: neighbour.deployment() };
  const gateway = await startGateway({ folder, tenants, ...prepare(folder) });
  expectRan(await invoke(gateway, neighbourId));
  const expectUntouched = async (): Promise<void> => {
    expect(expectRan(await invoke(gateway, neighbourId)).start).toBe(1);
    expect(neighbour.starts()).toHaveLength(1);
  };
  return { gateway, tenantId, neighbour: { expectUntouched } };
}
