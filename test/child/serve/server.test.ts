import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';

import { Admission } from '../../../child/serve/admission.ts';
import { createEvents } from '../../../child/serve/events.ts';
import { createPackServer, hashToken } from '../../../child/serve/server.ts';
import type { Service } from '../../../child/serve/server.ts';
import { parseTenantId } from '../../../shared/protocol/tenantId.ts';
import type { TenantId } from '../../../shared/protocol/tenantId.ts';
import { TOKEN } from '../support/child.ts';
import { ask, invoke, post } from '../support/http.ts';

/** A service with a fault of its own: its pack cannot be looked at. */
function faultyService(
  lines: string[],
  { token = TOKEN, tenant }: { token?: string; tenant?: TenantId } = {},
): Service {
  const write = (line: string): void => void lines.push(line);
  return {
    get pack(): Service['pack'] {
      throw new Error('a fault of the service at /srv/secret/place');
    },
    admission: new Admission({ maxConcurrency: 1, missingEnv: [] }),
    events: createEvents({ level: 'info', levels: new Map(), format: 'json', write }),
    tokenHash: hashToken(token),
    tenant,
    missingEnv: [],
  };
}

/** Runs a check with the server of a service, which listens meanwhile. */
async function listening(service: Service, run: (port: number) => Promise<void>): Promise<void> {
  const server = createPackServer(service);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await run((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('A13 A8 A10: a fault of the service itself is a 500 in JSON that says nothing of it, and frees its slot', async () => {
  const lines: string[] = [];
  await listening(faultyService(lines), async (port) => {
    // One slot: were it kept, the second call would be refused.
    for (let round = 0; round < 2; round += 1) {
      const answer = await post(port, invoke('acme.one'));
      expect(answer).toMatchObject({ status: 500, json: { error: 'internal error' } });
      expect(answer.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8' });
      expect(answer.headers).not.toHaveProperty('retry-after');
      expect(answer.headers).not.toHaveProperty('kindgi-duration-ms');
      expect(answer.text).not.toContain('secret');
    }
    expect((await ask(port, { path: '/healthz' })).status).toBe(200);
  });
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'error', subsystem: 'pack', error: { name: 'Error' } });
});

test('A17 B3: a header that is sent again, empty, is one sent twice, also where a comma ends the value', async () => {
  const tenant = parseTenantId('acme,');
  const service = faultyService([], { token: 'secret,', ...(tenant && { tenant }) });
  await listening(service, async (port) => {
    const ofInfo = async (token: string | string[], tenantId: string | string[]): Promise<number> => {
      const headers = { 'kindgi-pack-token': token, 'kindgi-tenant-id': tenantId };
      return (await ask(port, { path: '/v1/info', headers })).status;
    };
    expect(await ofInfo(['secret,', ''], 'acme,')).toBe(401);
    expect(await ofInfo('secret,', ['acme,', ''])).toBe(421);
    // Let in, and so at the fault.
    expect(await ofInfo('\tsecret, ', ' acme,\t')).toBe(500);
  });
});
