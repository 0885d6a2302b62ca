import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConformancePack } from '../../gateway/cli/conform/conformancePack.ts';
import { get } from '../../shared/conform/client/call.ts';
import type { Service } from '../../shared/conform/service.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import type { AtEnd } from '../support/atEnd.ts';
import type { DirectName, Program } from './programs.ts';

/** One gateway in front of every program, a tenant and a token each: what a caller sees of them. */
export class HostedPacks {
  readonly #services: ReadonlyMap<DirectName, Service>;
  #death: string | undefined;

  private constructor(services: ReadonlyMap<DirectName, Service>, gateway: Gateway) {
    this.#services = services;
    void gateway.exit.then(({ code, signal }) => {
      this.#death = `the gateway ended (${signal ?? code}), saying last:\n${gateway.output().slice(-3_000)}`;
    });
  }

  static async start(
    programs: readonly (readonly [program: Program, pack: ConformancePack])[],
    atEnd: AtEnd,
  ): Promise<HostedPacks> {
    const folder = await mkdtemp(join(tmpdir(), 'packgate-hosted-'));
    atEnd(() => rm(folder, { recursive: true, force: true }));
    const tenants = programs.map(([program, pack], number) => {
      // In the gateway's own folder, by which its children are found should it leave any behind.
      const index = join(folder, `index-${number}.json`);
      copyFileSync(pack.indexPath, index);
      return { id: randomUUID(), token: `Token-${randomUUID()}`, program, pack, index };
    });
    const gateway = await startGateway(
      {
        folder,
        tokens: tenants.map(({ id, token }) => ({ sha256: sha256(token), tenants: [id] })),
        tenants: Object.fromEntries(
          tenants.map(({ id, program, pack, index }) => [id, { pack: pack.dir, index, ...program.hosting }]),
        ),
        // Several clauses send 10 MiB at the same moment, which one tenant's share of the default would not hold.
        configuration: { bodies: '1GiB' },
      },
      atEnd,
    );
    atEnd(async () => {
      assert.deepEqual(await gateway.stop(), { code: 0, signal: null }, 'how the gateway ends');
    });
    const services = tenants.map(({ id, token, program, pack }): [DirectName, Service] => [
      program.name,
      {
        host: '127.0.0.1',
        port: gateway.port,
        token,
        tenantId: id,
        expectedInfo: pack.expectedInfo,
        packDir: pack.dir,
      },
    ]);
    // A clause with a short deadline measures the service, not its start: everything is up before the first one.
    await Promise.all(services.map(([, service]) => get(service, '/v1/info')));
    return new HostedPacks(new Map(services), gateway);
  }

  /** What a caller of this program's tenant sees. Throws when the gateway has ended, with its last words. */
  service(name: DirectName): Service {
    if (this.#death !== undefined) throw new Error(this.#death);
    const service = this.#services.get(name);
    if (service === undefined) throw new Error(`no tenant for ${name}`);
    return service;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
