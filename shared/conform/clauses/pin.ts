import assert from 'node:assert/strict';
import { ENV } from '../../process/contract.ts';
import { HEADER } from '../../protocol/headers.ts';
import { NO_TENANT_ID } from '../../protocol/tenantId.ts';
import { ECHO, get, invoke, post } from '../client/call.ts';
import { outputOf, refusalOf } from '../client/message.ts';
import { processClause } from '../clause.ts';
import { foreignTenant } from './foreign.ts';
import { failureOf } from './failedStart.ts';
import { callRecord, eventsOf } from './lines.ts';
import { serving, whileHeld } from './serving.ts';

const hello = { message: 'hello' };
const ONE_SLOT = { env: { [ENV.maxConcurrency]: '1' } };

/** Group B: the pin of a service's process. */
export const pin = [
  processClause(
    'B4/full',
    'a full service is 421 to another tenant and 503 to its own',
    async (target) => {
      await serving(target, ONE_SLOT, async (service) => {
        await whileHeld(service, async () => {
          const headers = { [HEADER.tenantId]: foreignTenant(service) };
          refusalOf(await invoke(service, ECHO, hello, { headers }), 421);
          refusalOf(await get(service, '/v1/info', headers), 421);
          assert.equal(refusalOf(await invoke(service, ECHO, hello), 503).error, 'overloaded');
        });
        assert.deepEqual(outputOf(await invoke(service, ECHO, hello)), hello, 'the slot is free again');
      });
    },
    ['A2', 'A9'],
  ),

  processClause(
    'A3/full',
    'a full service is 503 `overloaded`, but info and the probes answer',
    async (target) => {
      await serving(target, ONE_SLOT, (service) =>
        whileHeld(service, async () => {
          const answer = await post(service, 'x', { headers: { 'content-type': 'text/plain' } });
          assert.equal(refusalOf(answer, 503).error, 'overloaded', 'before the content type');
          for (const path of ['/v1/info', '/healthz', '/readyz']) {
            assert.equal((await get(service, path)).status, 200, path);
          }
        }),
      );
    },
    ['A2', 'A9'],
  ),

  processClause(
    'B9/level',
    'at log level `error` the refusal is not written',
    async (target) => {
      await serving(target, { env: { [ENV.logLevel]: 'error' } }, async (service) => {
        refusalOf(await get(service, '/v1/info', { [HEADER.tenantId]: foreignTenant(service) }), 421);
        await service.process.stop();
        assert.deepEqual(eventsOf(service.process, 'tenant-mismatch'), []);
      });
    },
    ['C20'],
  ),

  processClause(
    'B9/records',
    'each refusal is a `tenant-mismatch` record that says by what, and names nobody',
    async (target) => {
      await serving(target, {}, async (service) => {
        const runId = crypto.randomUUID();
        refusalOf(await invoke(service, ECHO, hello, { headers: { [HEADER.tenantId]: foreignTenant(service) } }), 421);
        refusalOf(await invoke(service, ECHO, hello, { ctx: { tenantId: foreignTenant(service), runId } }), 421);
        const last = crypto.randomUUID();
        outputOf(await invoke(service, ECHO, hello, { ctx: { runId: last } }));
        await service.process.line(callRecord(last));
        const records = eventsOf(service.process, 'tenant-mismatch');
        assert.deepEqual(
          records.map(({ level, via }) => ({ level, via })),
          [
            { level: 'warn', via: 'header' },
            { level: 'warn', via: 'context' },
          ],
        );
        const text = JSON.stringify(records);
        for (const secret of [foreignTenant(service), String(service.tenantId), runId, ECHO])
          assert.ok(!text.includes(secret), text);
        assert.equal(eventsOf(service.process, 'call').length, 1, 'a refused call has no call record');
      });
    },
    ['C22'],
  ),

  processClause('B10/blank', 'an empty or blank tenant variable is no pin', async (target) => {
    for (const value of ['', '  ']) {
      await serving(target, { tenantId: value }, async (service) => {
        assert.deepEqual(outputOf(await invoke(service, ECHO, hello, { headers: { [HEADER.tenantId]: null } })), hello);
      });
    }
  }),

  processClause('B10/upper-case', 'a pin in upper case, with blanks around it, is the same pin', async (target) => {
    const id = '3F2B8C1E-4A5D-4E6F-9A0B-1C2D3E4F5A6B';
    await serving(target, { tenantId: `  ${id}\n` }, async (service) => {
      assert.deepEqual(outputOf(await invoke(service, ECHO, hello, tenantOf(id.toLowerCase()))), hello);
      refusalOf(await invoke(service, ECHO, hello, tenantOf(foreignTenant(service))), 421);
    });
  }),

  processClause('B10/other-ids', 'an id that is no UUID pins as well and is compared exactly', async (target) => {
    await serving(target, { tenantId: 'Acme.Support_7' }, async (service) => {
      assert.deepEqual(outputOf(await invoke(service, ECHO, hello, tenantOf('Acme.Support_7'))), hello);
      refusalOf(await invoke(service, ECHO, hello, tenantOf('acme.support_7')), 421);
    });
  }),

  processClause('B10/no-tenant', 'the "no tenant" id is `config-invalid` and named', async (target) => {
    const started = await target.start({ tenantId: NO_TENANT_ID });
    try {
      const { problems } = await failureOf(started, 'config-invalid');
      assert.match(String(problems), new RegExp(NO_TENANT_ID));
      assert.deepEqual(await started.exit, { code: 1, signal: null });
    } finally {
      await started.stop();
    }
  }),

  processClause('B10/not-an-id', 'what can be no id is `config-invalid`, and is not repeated', async (target) => {
    const value = 'two words and a secret';
    const started = await target.start({ tenantId: value });
    try {
      const { problems } = await failureOf(started, 'config-invalid');
      assert.match(String(problems), new RegExp(ENV.tenantId));
      assert.deepEqual(await started.exit, { code: 1, signal: null });
      assert.ok(!started.lines().join('\n').includes(value), 'the value is repeated');
    } finally {
      await started.stop();
    }
  }),
];

function tenantOf(id: string): { headers: Record<string, string>; ctx: Record<string, string> } {
  return { headers: { [HEADER.tenantId]: id }, ctx: { tenantId: id } };
}
