import assert from 'node:assert/strict';
import { RawConnection } from '../client/connection.ts';
import { encodeRequest, exchange } from '../client/request.ts';
import { headerOf } from '../client/response.ts';
import { processClause } from '../clause.ts';

/** Group A: connections that nothing happens on. */
export const connections = [
  processClause('A43/idle', 'an idle connection is closed by the service after 5 s, not before', async (target) => {
    const service = await target.shared();
    const connection = await RawConnection.open(service);
    try {
      connection.send(encodeRequest(service, { method: 'GET', path: '/healthz' }));
      assert.equal((await connection.read()).status, 200);
      const idleSince = performance.now();
      await connection.closed(9_000);
      const idleMs = performance.now() - idleSince;
      assert.ok(idleMs > 4_700 && idleMs < 7_500, `closed after ${idleMs} ms`);
    } finally {
      connection.close();
    }
  }),

  processClause(
    'A43/announced',
    'the time a connection is kept is announced',
    async (target) => {
      const answer = await exchange(await target.shared(), { method: 'GET', path: '/healthz' });
      assert.match(headerOf(answer, 'keep-alive') ?? 'no Keep-Alive', /timeout=5/);
    },
    ['A45'],
  ),

  processClause('A44/silent', 'a connection on which nothing was sent outlives the idle time', async (target) => {
    const service = await target.shared();
    const connection = await RawConnection.open(service);
    try {
      await assert.rejects(connection.closed(7_500), 'closed by the service');
      connection.send(encodeRequest(service, { method: 'GET', path: '/healthz' }));
      assert.equal((await connection.read()).status, 200);
    } finally {
      connection.close();
    }
  }),
];
