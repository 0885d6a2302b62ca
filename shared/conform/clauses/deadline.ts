import assert from 'node:assert/strict';
import { ENV } from '../../process/contract.ts';
import { HEADER } from '../../protocol/headers.ts';
import { ECHO, INVOKE, SLEEP, check, invoke, invokeMessage } from '../client/call.ts';
import { RawConnection } from '../client/connection.ts';
import { errorOf, outputOf, verdictOf } from '../client/message.ts';
import { encodeRequest } from '../client/request.ts';
import type { HeaderValue } from '../client/request.ts';
import { httpClause, processClause } from '../clause.ts';
import { eventOf } from './lines.ts';
import type { Service } from '../service.ts';
import { serving } from './serving.ts';

const MIN_LENGTH = 'conformance.checks.min-length';

/** Of a deadline of 300 ms at most: what a busy machine may add, and no more. */
const PROMPT_MS = 2_000;

/** The header is as if it were not there: work of 350 ms is done, though a number in it is smaller. */
async function isIgnored(service: Service, value: HeaderValue): Promise<void> {
  const answer = await invoke(service, SLEEP, { ms: 350 }, { headers: { [HEADER.timeoutMs]: value } });
  assert.deepEqual(outputOf(answer), { slept: 350 }, `${HEADER.timeoutMs}: ${String(value)}`);
}

async function isDeadline(service: Service, value: HeaderValue): Promise<void> {
  const answer = await invoke(service, SLEEP, { ms: 10_000 }, { headers: { [HEADER.timeoutMs]: value } });
  errorOf(answer, 'deadline-exceeded', { toolId: SLEEP });
  assert.ok(answer.tookMs < PROMPT_MS, `answered after ${answer.tookMs} ms`);
}

/** Group A: the deadline. */
export const deadline = [
  httpClause('A33/relative', 'a deadline in milliseconds that is long enough changes nothing', async (service) => {
    const headers = { [HEADER.timeoutMs]: '20000' };
    assert.deepEqual(outputOf(await invoke(service, ECHO, { message: 'hello' }, { headers })), { message: 'hello' });
    assert.equal(verdictOf(await check(service, MIN_LENGTH, {}, { output: 'x' }, { headers })).passed, true);
  }),

  httpClause('A34/ignored', 'what is no positive whole number is ignored, never an error', async (service) => {
    const values = ['0', '-1', 'abc', '', ' ', '100.5', 'Infinity', '1_00', '100, 200', '100ms', '0.1', '٣'];
    await Promise.all(values.map((value) => isIgnored(service, value)));
  }),

  httpClause('A35/other-numbers', 'numbers in other spellings are ignored', async (service) => {
    await Promise.all(['1e2', '100.0', '+100', '0x64'].map((value) => isIgnored(service, value)));
  }),

  httpClause('A35/zeros-and-blanks', 'leading zeros and blanks around the digits are no matter', async (service) => {
    await Promise.all(['0100', ' 100 ', '\t100'].map((value) => isDeadline(service, value)));
  }),

  httpClause('A35/twice', 'a deadline sent twice is ignored', async (service) => {
    await isIgnored(service, ['100', '200']);
    await isIgnored(service, ['100', '100']);
  }),

  httpClause('A36/huge', 'a deadline beyond 32 bits does not end the call at once', async (service) => {
    for (const value of ['2147483648', '4294967296', '99999999999999999999']) await isIgnored(service, value);
  }),

  httpClause('A34/clock', 'the clock starts when the whole body has arrived', async (service) => {
    const connection = await RawConnection.open(service);
    try {
      const body = JSON.stringify(invokeMessage(service, SLEEP, { ms: 100 }));
      const headers = {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        [HEADER.timeoutMs]: '300',
      };
      connection.send(encodeRequest(service, { method: 'POST', path: INVOKE, headers }));
      connection.send(body.slice(0, 10));
      await assert.rejects(connection.closed(700), 'closed by the service');
      connection.send(body.slice(10));
      assert.deepEqual(outputOf(await connection.read()), { slept: 100 });
    } finally {
      connection.close();
    }
  }),

  httpClause('A37/message', 'at the deadline the answer is 200 `deadline-exceeded` with the tool', async (service) => {
    await isDeadline(service, '300');
  }),

  httpClause('A37/prompt', 'the answer is prompt even when the handler does not care', async (service) => {
    const headers = { [HEADER.timeoutMs]: '300' };
    const answer = await invoke(service, 'conformance.stubborn', { ms: 4_000 }, { headers });
    errorOf(answer, 'deadline-exceeded', { toolId: 'conformance.stubborn' });
    assert.ok(answer.tookMs >= 280 && answer.tookMs < PROMPT_MS, `answered after ${answer.tookMs} ms`);
  }),

  processClause(
    'A37/slot',
    'at the deadline the slot is free at once although the handler goes on',
    async (target) => {
      await serving(target, { env: { [ENV.maxConcurrency]: '1' } }, async (service) => {
        const headers = { [HEADER.timeoutMs]: '200' };
        errorOf(await invoke(service, 'conformance.stubborn', { ms: 1_500 }, { headers }), 'deadline-exceeded', {
          toolId: 'conformance.stubborn',
        });
        // The real Python service has as many threads as slots: only an async tool is sure to run now (A38).
        assert.deepEqual(outputOf(await invoke(service, SLEEP, { ms: 1 })), { slept: 1 });
        const late = await eventOf(service.process, 'handler-finished-late');
        assert.equal(late.toolId, 'conformance.stubborn');
        assert.ok(Number(late.afterMs) >= 1_400, `afterMs is ${String(late.afterMs)}`);
      });
    },
    ['C20'],
  ),

  processClause(
    'A37/reason',
    "the handler's cancellation says `deadline-exceeded`",
    async (target) => {
      const service = await target.shared();
      const runId = crypto.randomUUID();
      const answer = await invoke(
        service,
        SLEEP,
        { ms: 10_000 },
        { headers: { [HEADER.timeoutMs]: '200' }, ctx: { runId } },
      );
      errorOf(answer, 'deadline-exceeded', { toolId: SLEEP });
      await service.process.printed(`sleep ${runId}: deadline-exceeded`);
    },
    ['D31'],
  ),
];
