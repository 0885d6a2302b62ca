import assert from 'node:assert/strict';
import { HEADER } from '../../protocol/headers.ts';
import type { Json } from '../../protocol/messages.ts';
import { ECHO, INVOKE, get, invoke, invokeMessage } from '../client/call.ts';
import { RawConnection } from '../client/connection.ts';
import { messageOf, outputOf } from '../client/message.ts';
import { encodeRequest } from '../client/request.ts';
import { processClause } from '../clause.ts';
import type { ProcessExit, Target } from '../service.ts';
import { eventsOf } from './lines.ts';
import { serving } from './serving.ts';

const BLOCKS = 'conformance.blocks';

/** Calls a tool that ends its process: how that ends, after its caller was left without an answer. */
async function endOf(target: Target, toolId: string, input: Json): Promise<ProcessExit> {
  let exit: ProcessExit | undefined;
  await serving(target, {}, async (service) => {
    const connection = await RawConnection.open(service);
    try {
      const body = JSON.stringify(invokeMessage(service, toolId, input));
      connection.send(encodeRequest(service, { method: 'POST', path: INVOKE, body }));
      await connection.closed(5_000);
      assert.equal(connection.unread, 0, 'something was answered');
      exit = await service.process.exit;
      assert.deepEqual(eventsOf(service.process, 'stopped'), [], 'it says that it stopped');
    } finally {
      connection.close();
    }
  });
  return exit ?? assert.fail('it did not end');
}

/** Groups A and C: handlers that take more than their own call. */
export const crashes = [
  processClause('C38/exit', 'a handler that ends the process ends it, with its code and no line', async (target) => {
    assert.deepEqual(await endOf(target, 'conformance.exits', { code: 9 }), { code: 9, signal: null });
  }),

  processClause(
    'C38/outside',
    'an error that is thrown outside of a call ends the process with code 1',
    async (target) => {
      assert.deepEqual(await endOf(target, 'conformance.crashes', {}), { code: 1, signal: null });
    },
  ),

  processClause(
    'A38/blocked',
    'while a handler blocks everything waits; then its call has one answer and the rest are served',
    async (target) => {
      await serving(target, {}, async (service) => {
        const runId = crypto.randomUUID();
        const headers = { [HEADER.timeoutMs]: '300' };
        const blocking = invoke(service, BLOCKS, { ms: 1_500 }, { ctx: { runId }, headers });
        await service.process.printed(`blocks ${runId}: begins`);
        const probe = await get(service, '/healthz');
        assert.equal(probe.status, 200);
        assert.ok(probe.tookMs > 500, `a probe was answered after ${probe.tookMs} ms`);
        const message = messageOf(await blocking);
        const isResult = message.kind === 'result' && message.output === 'blocked';
        assert.ok(isResult || (message.kind === 'error' && message.code === 'deadline-exceeded'), message.kind);
        assert.deepEqual(outputOf(await invoke(service, ECHO, { message: 'after' })), { message: 'after' });
      });
    },
  ),
];
