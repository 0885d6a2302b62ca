import assert from 'node:assert/strict';
import { ENV } from '../../process/contract.ts';
import { ECHO, INVOKE, SLEEP, invoke, invokeMessage } from '../client/call.ts';
import { RawConnection } from '../client/connection.ts';
import { refusalOf } from '../client/message.ts';
import { encodeRequest } from '../client/request.ts';
import { processClause } from '../clause.ts';
import type { RunningService } from '../service.ts';
import { callRecord, eventsOf } from './lines.ts';
import { sendHalfACall, serving } from './serving.ts';

/** Sends a call that takes long and leaves in the given way once it runs; the call must end as cancelled. */
async function isCancelled(service: RunningService, leave: (connection: RawConnection) => void): Promise<void> {
  const runId = crypto.randomUUID();
  const connection = await RawConnection.open(service);
  try {
    const body = JSON.stringify(invokeMessage(service, SLEEP, { ms: 20_000 }, { ctx: { runId } }));
    connection.send(encodeRequest(service, { method: 'POST', path: INVOKE, body }));
    await service.process.printed(`sleep ${runId}: begins`);
    leave(connection);
    const record = await service.process.line(callRecord(runId), 5_000);
    assert.ok(record.type === 'event');
    assert.equal(record.fields.outcome, 'cancelled');
    await service.process.printed(`sleep ${runId}: cancelled`, 5_000);
    if (connection.isOpen) await connection.closed(5_000);
    assert.equal(connection.unread, 0, 'something was answered');
  } finally {
    connection.close();
  }
}

/** Group A: callers that leave. */
export const cancellation = [
  processClause(
    'A39/close',
    'a caller that closes has cancelled its call',
    async (target) => {
      await isCancelled(await target.shared(), (connection) => connection.close());
    },
    ['A40', 'D31'],
  ),

  processClause(
    'A40/half-close',
    'a caller that ends its side has cancelled its call, and nothing is sent',
    async (target) => {
      await isCancelled(await target.shared(), (connection) => connection.end());
    },
  ),

  processClause(
    'A41/in-the-body',
    'a caller that leaves in the middle of its body frees the slot, without a record',
    async (target) => {
      await serving(target, { env: { [ENV.maxConcurrency]: '1' } }, async (service) => {
        const connection = await sendHalfACall(service);
        try {
          await untilStatus(service, 503);
          connection.close();
          await untilStatus(service, 200);
          const outcomes = eventsOf(service.process, 'call').map(({ outcome }) => outcome);
          assert.ok(!outcomes.includes('cancelled'), 'a record of the call that never came');
        } finally {
          connection.close();
        }
      });
    },
    ['A27'],
  ),
];

/** Calls again and again, a slot being taken or freed, until the answer has this status. */
async function untilStatus(service: RunningService, status: 200 | 503): Promise<void> {
  const until = performance.now() + 5_000;
  for (;;) {
    const answer = await invoke(service, ECHO, { message: 'is there room?' });
    if (answer.status === status) {
      if (status === 503) assert.equal(refusalOf(answer, 503).error, 'overloaded');
      return;
    }
    assert.ok(performance.now() < until, `still ${answer.status} after 5 s`);
  }
}
