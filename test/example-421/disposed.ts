// No test: it is here for its types, which need nothing that is newer than ES2022.
import { assertTenantMismatch, createGateway, fakePackService } from 'packgate/testing';
import type { CallAnswer, FakeCall, FakeReply } from 'packgate/testing';

const answer = ({ input, ctx }: FakeCall): FakeReply => ({ result: [input ?? null, ctx?.runId ?? ''] });

export async function callOnce(tenant: string): Promise<CallAnswer> {
  const fake = fakePackService({ tools: { 'acme.echo': answer } });
  await using gateway = await createGateway({ tenants: { [tenant]: fake }, log: process.stderr });
  assertTenantMismatch(await gateway.client(tenant).invoke('acme.echo', {}, { asTenant: 'other' }));
  const { status, handedOver } = gateway.records[0] ?? {};
  if (status !== 421 || handedOver !== 'no') throw new Error(gateway.status(tenant).state);
  return gateway.client(tenant).invoke('acme.echo', { message: 'hi' });
}
