import assert from 'node:assert/strict';
import { invoke } from '../client/call.ts';
import { errorOf } from '../client/message.ts';
import { httpClause, processClause } from '../clause.ts';
import { callRecord } from './lines.ts';

const REJECTS = 'conformance.rejects';
const TOKEN = 'access-token-of-the-mail-account';

/** Its name in the call is the tool's own: neither the app's nor the connection's id. */
const CONNECTIONS = {
  connections: {
    inbox: {
      connectionId: 'c-1',
      app: 'mail',
      appName: 'Mail',
      accessToken: TOKEN,
      account: { id: 'a-1', label: 'ana@acme.example' },
      expiresAt: '2030-01-01T00:00:00Z',
    },
  },
};

/** Group D: connections to other apps. */
export const connectionTokens = [
  httpClause(
    'D47/rejected',
    "a token that an app refused is told by the tool's own name for the connection",
    async (service) => {
      const answer = await invoke(service, REJECTS, { connection: 'inbox' }, { ctx: CONNECTIONS });
      const error = errorOf(answer, 'connection-rejected', { toolId: REJECTS });
      assert.equal(error.connection, 'inbox');
    },
    ['D12', 'D48'],
  ),

  httpClause('D48/no-cause', 'the answer has no cause, and nothing of the token in it', async (service) => {
    const answer = await invoke(service, REJECTS, { connection: 'inbox' }, { ctx: CONNECTIONS });
    const error = errorOf(answer, 'connection-rejected', { toolId: REJECTS });
    assert.equal(error.cause, undefined, 'cause');
    assert.ok(!answer.body.includes(TOKEN), 'the token is in the answer');
  }),

  httpClause(
    'D48/unknown-name',
    'a connection that the call does not carry is a mistake of the tool',
    async (service) => {
      const known = await invoke(service, REJECTS, { connection: 'inbox' }, { ctx: CONNECTIONS });
      errorOf(known, 'connection-rejected', { toolId: REJECTS });
      for (const [connection, ctx] of [
        ['outbox', CONNECTIONS],
        ['c-1', CONNECTIONS],
        ['toString', CONNECTIONS],
        ['inbox', {}],
      ] as const) {
        const error = errorOf(await invoke(service, REJECTS, { connection }, { ctx }), 'handler-throw', {
          toolId: REJECTS,
        });
        assert.equal(error.connection, undefined, 'connection');
      }
    },
  ),

  processClause('D5/never-logged', 'the token of a connection is never on stderr', async (target) => {
    const service = await target.shared();
    const runId = crypto.randomUUID();
    await invoke(service, REJECTS, { connection: 'inbox' }, { ctx: { ...CONNECTIONS, runId } });
    const record = await service.process.line(callRecord(runId));
    assert.ok(record.type === 'event');
    assert.equal(record.fields.outcome, 'connection-rejected');
    assert.ok(!service.process.lines().join('\n').includes(TOKEN), 'the token');
  }),
];
