import assert from 'node:assert/strict';
import { HEADER } from '../../protocol/headers.ts';
import { ECHO, INVOKE, SLEEP, get, invoke, invokeMessage } from '../client/call.ts';
import { RawConnection } from '../client/connection.ts';
import { refusalOf } from '../client/message.ts';
import { encodeRequest } from '../client/request.ts';
import { processClause } from '../clause.ts';
import type { Hold, RunningService, Target } from '../service.ts';
import { foreignTenant } from './foreign.ts';
import { eventOf, eventsOf } from './lines.ts';
import { sendHalfACall, serving, whileHeld } from './serving.ts';

const CLEAN = { code: 0, signal: null };
const hello = { message: 'hello' };

/** Looks at a service that has been told to stop while a call of it is under way, then at its end. */
async function draining(
  target: Target,
  run: (service: RunningService, hold: Hold) => Promise<void>,
  signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM',
): Promise<void> {
  await serving(target, {}, async (service) => {
    await whileHeld(service, async (hold) => {
      service.process.signal(signal);
      await eventOf(service.process, 'draining', 5_000);
      await run(service, hold);
    });
    assert.deepEqual(await service.process.exit, CLEAN);
  });
}

/** Sends a call that outlives any drain and waits until it runs. */
async function callForEver(service: RunningService): Promise<RawConnection> {
  const runId = crypto.randomUUID();
  const connection = await RawConnection.open(service);
  const body = JSON.stringify(invokeMessage(service, SLEEP, { ms: 60_000 }, { ctx: { runId } }));
  connection.send(encodeRequest(service, { method: 'POST', path: INVOKE, body }));
  await service.process.printed(`sleep ${runId}: begins`);
  return connection;
}

/** Ends a service, which takes between these times in milliseconds. */
async function endsWithin(service: RunningService, leastMs: number, mostMs: number): Promise<void> {
  const since = performance.now();
  service.process.signal('SIGTERM');
  assert.deepEqual(await service.process.exit, CLEAN);
  const tookMs = Math.round(performance.now() - since);
  assert.ok(tookMs >= leastMs && tookMs <= mostMs, `it took ${tookMs} ms`);
}

/** Group C: stopping. */
export const drain = [
  processClause(
    'C29/refusals',
    'while draining readiness and new calls are 503 `draining`',
    async (target) => {
      await draining(target, async (service) => {
        assert.equal(refusalOf(await invoke(service, ECHO, hello), 503).error, 'draining');
        assert.equal(refusalOf(await get(service, '/readyz'), 503).error, 'draining');
      });
    },
    ['A9', 'A2'],
  ),

  processClause(
    'C30/still-open',
    'while draining info and healthz answer 200',
    async (target) => {
      await draining(target, async (service) => {
        assert.equal((await get(service, '/v1/info')).status, 200);
        assert.equal((await get(service, '/healthz')).status, 200);
      });
    },
    ['A3'],
  ),

  processClause(
    'B4/draining',
    'a draining service is 421 to another tenant, and 401 without a token',
    async (target) => {
      await draining(target, async (service) => {
        const headers = { [HEADER.tenantId]: foreignTenant(service) };
        refusalOf(await invoke(service, ECHO, hello, { headers }), 421);
        refusalOf(await get(service, '/v1/info', headers), 421);
        refusalOf(await invoke(service, ECHO, hello, { headers: { [HEADER.token]: null } }), 401);
      });
    },
    ['A2'],
  ),

  processClause(
    'C29/calls-end',
    'after SIGTERM the call under way ends, then the process: `draining`, the call, `stopped`, code 0',
    async (target) => {
      let ended: RunningService | undefined;
      let releasedAt = 0;
      await draining(target, async (service, hold) => {
        hold.release();
        releasedAt = performance.now();
        ended = service;
      });
      assert.ok(performance.now() - releasedAt < 4_000, 'it stayed on');
      const events = ended?.process
        .lines()
        .flatMap((line) => /"event":"(draining|call|stopped)"/.exec(line)?.[1] ?? []);
      assert.deepEqual(events, ['draining', 'call', 'stopped']);
    },
    ['C30'],
  ),

  processClause('C30/idle', 'an idle service exits at once', async (target) => {
    await serving(target, {}, async (service) => {
      assert.equal((await get(service, '/healthz')).status, 200);
      await endsWithin(service, 0, 4_000);
      assert.equal(eventsOf(service.process, 'draining').length, 1, 'draining');
      assert.equal(eventsOf(service.process, 'stopped').length, 1, 'stopped');
    });
  }),

  processClause('C31/open-connections', 'idle and silent connections do not delay the exit', async (target) => {
    await serving(target, {}, async (service) => {
      const idle = await RawConnection.open(service);
      const silent = await RawConnection.open(service);
      try {
        idle.send(encodeRequest(service, { method: 'GET', path: '/healthz' }));
        assert.equal((await idle.read()).status, 200);
        await endsWithin(service, 0, 4_000);
        await Promise.all([idle.closed(1_000), silent.closed(1_000)]);
      } finally {
        idle.close();
        silent.close();
      }
    });
  }),

  processClause(
    'C32/long-call',
    'a call longer than the drain is cut after 8 s, and the exit code is 0',
    async (target) => {
      await serving(target, {}, async (service) => {
        const connection = await callForEver(service);
        try {
          await endsWithin(service, 7_500, 9_500);
          await connection.closed(1_000);
          assert.equal(connection.unread, 0, 'something was answered');
        } finally {
          connection.close();
        }
      });
    },
    ['C29'],
  ),

  processClause(
    'C33/half-a-body',
    'a half-sent body counts as a call under way',
    async (target) => {
      await serving(target, {}, async (service) => {
        const connection = await sendHalfACall(service);
        try {
          await endsWithin(service, 7_500, 9_500);
        } finally {
          connection.close();
        }
      });
    },
    ['A27'],
  ),

  processClause('C35/second-signal', 'a second SIGTERM ends the drain now, with exit code 0', async (target) => {
    await serving(target, {}, async (service) => {
      const connection = await callForEver(service);
      try {
        service.process.signal('SIGTERM');
        await eventOf(service.process, 'draining', 5_000);
        await endsWithin(service, 0, 4_000);
      } finally {
        connection.close();
      }
    });
  }),

  processClause('C36/interrupt', 'SIGINT drains like SIGTERM', async (target) => {
    await draining(target, async () => {}, 'SIGINT');
  }),

  processClause('C37/right-after-listening', 'SIGTERM right after `listening` is a clean stop', async (target) => {
    for (let round = 1; round <= 3; round += 1) {
      const started = await target.start();
      try {
        await eventOf(started, 'listening');
        started.signal('SIGTERM');
        assert.deepEqual(await started.exit, CLEAN, `round ${round}`);
      } finally {
        await started.stop();
      }
    }
  }),
];
