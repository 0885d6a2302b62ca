import assert from 'node:assert/strict';
import { invoke, tenantOf } from '../client/call.ts';
import { objectOf, outputOf } from '../client/message.ts';
import { httpClause } from '../clause.ts';

/** Everything a call may carry, with secrets that can be told from anything else. */
const FULL = {
  runId: 'run-1',
  requestId: 'call_7f3a',
  projectId: 'project-1',
  orgId: 'org-1',
  idempotencyKey: 'a227f4cd-12ae-5689-8403-2a3aa8b27384',
  env: { REGION: 'north', EMPTY: '' },
  secrets: { API_KEY: 'secret-of-the-call', LIST: ['secret-in-a-list'] },
  config: { depth: 3 },
  settings: { 'acme.weights': { recency: 0.5 } },
};

const HIDDEN = {
  secrets: { API_KEY: 'secret-of-the-call' },
  toolFiles: { url: 'http://127.0.0.1:9/files-of-the-call', token: 'token-for-the-files' },
};

const CONNECTIONS = {
  connections: {
    mail: {
      connectionId: 'c-1',
      app: 'mail',
      appName: 'Mail',
      accessToken: 'token-of-a-connection',
      account: { id: 'a', label: 'A' },
    },
  },
};

/** Group D: what a handler gets besides its input. */
export const context = [
  httpClause(
    'D3/fields',
    'a handler gets the fields of the call as they were sent',
    async (service) => {
      const output = outputOf(await invoke(service, 'conformance.context', {}, { ctx: FULL }));
      assert.deepEqual(output, { tenantId: tenantOf(service), ...FULL });
    },
    ['D30'],
  ),

  httpClause('D3/absent', 'what a call does not carry is not there', async (service) => {
    const output = outputOf(await invoke(service, 'conformance.context', {}, { ctx: { runId: 'run-2' } }));
    assert.deepEqual(output, {
      tenantId: tenantOf(service),
      runId: 'run-2',
      requestId: null,
      projectId: null,
      orgId: null,
      idempotencyKey: null,
      env: {},
      secrets: {},
      config: {},
      settings: {},
    });
  }),

  httpClause('D30/secrets', 'printing and serialising a context shows no secret', async (service) => {
    const { text } = objectOf(outputOf(await invoke(service, 'conformance.visible', {}, { ctx: HIDDEN })), 'output');
    assert.ok(String(text).includes(tenantOf(service)), 'the context is shown');
    assert.ok(!String(text).includes('secret-of-the-call'), String(text));
  }),

  httpClause(
    'D30/shown',
    'a context shows what was sent, unknown fields too, and its signal; the secret parts are there without being shown',
    async (service) => {
      const ctx = { ...FULL, ...HIDDEN, ...CONNECTIONS, ofTheFuture: [1] };
      const output = objectOf(outputOf(await invoke(service, 'conformance.shape', {}, { ctx })), 'output');
      const { secrets: _hidden, ...shown } = { tenantId: '', ...FULL, ofTheFuture: [1], abortSignal: {} };
      const names = Object.keys(shown).sort();
      assert.deepEqual(output, { shown: names, spread: names, hidden: ['secrets', 'connections', 'log'] });
    },
    ['D34'],
  ),

  httpClause('D34/tool-files', '`toolFiles` does not reach the handler', async (service) => {
    const output = objectOf(outputOf(await invoke(service, 'conformance.visible', {}, { ctx: HIDDEN })), 'output');
    assert.equal(output.hasToolFiles, false);
    assert.ok(!String(output.text).includes('token-for-the-files'), String(output.text));
    assert.ok(!String(output.text).includes('files-of-the-call'), String(output.text));
  }),

  httpClause(
    'D34/connections',
    'printing and serialising a context shows no token of a connection',
    async (service) => {
      const answer = await invoke(service, 'conformance.visible', {}, { ctx: CONNECTIONS });
      const { text } = objectOf(outputOf(answer), 'output');
      assert.ok(!String(text).includes('token-of-a-connection'), String(text));
    },
  ),
];
