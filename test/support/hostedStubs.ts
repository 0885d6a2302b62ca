import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { info, invoke, post } from './calls.ts';
import type { CallOptions } from './calls.ts';
import { temporaryFolder } from './files.ts';
import type { AtEnd } from './atEnd.ts';
import { startGateway } from './gateway.ts';
import type { Gateway, GatewayOptions } from './gateway.ts';
import type { Answer } from './http.ts';
import { createStubPack } from './stubPack.ts';
import type { StubBehaviour, StubPack } from './stubPack.ts';

export interface StubTenant {
  /** A random UUID when left out. */
  readonly tenantId?: string;
  readonly behaviour?: StubBehaviour;
  /** Settings of its deployment in the configuration. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** A stub pack, the tenant that has it, and calls to it through the gateway. */
export interface HostedStub extends StubPack {
  readonly tenantId: string;
  readonly invoke: (options?: CallOptions) => Promise<Answer>;
  readonly post: (body: string | Buffer, options?: Parameters<typeof post>[3]) => Promise<Answer>;
  readonly info: (options?: CallOptions) => Promise<Answer>;
  /** Ids of the calls that ran, in order. */
  readonly ranIds: () => string[];
}

export interface HostedStubs<Name extends string> {
  readonly folder: string;
  readonly gateway: Gateway;
  readonly stubs: Readonly<Record<Name, HostedStub>>;
}

/** Starts a gateway that hosts stub packs, one tenant each, named as in the record. */
export async function hostStubs<Name extends string>(
  tenants: Readonly<Record<Name, StubTenant>>,
  options: Partial<Omit<GatewayOptions, 'folder' | 'tenants'>> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<HostedStubs<Name>> {
  const folder = temporaryFolder(atEnd);
  const names = Object.keys(tenants) as Name[];
  const packs = names.map((name) => {
    const { tenantId = randomUUID(), behaviour, settings } = tenants[name];
    const pack = createStubPack(folder, name, behaviour);
    return { name, tenantId, pack, entry: [tenantId, pack.deployment(settings)] as const };
  });
  const gateway = await startGateway(
    { folder, tenants: Object.fromEntries(packs.map(({ entry }) => entry)), ...options },
    atEnd,
  );
  const hosted = packs.map(({ name, tenantId, pack }) => [name, hostedStub(gateway, tenantId, pack)] as const);
  return { folder, gateway, stubs: Object.fromEntries(hosted) as Record<Name, HostedStub> };
}

function hostedStub(gateway: Gateway, tenantId: string, pack: StubPack): HostedStub {
  return {
    ...pack,
    tenantId,
    invoke: (options) => invoke(gateway, tenantId, options),
    post: (body, options) => post(gateway, tenantId, body, options),
    info: (options) => info(gateway, tenantId, options),
    ranIds: () => pack.runs().map(({ requestId }) => requestId),
  };
}
