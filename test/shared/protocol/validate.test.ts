import { describe, expect, test } from 'vitest';

import { ERROR_CODES } from '../../../shared/protocol/codes.ts';
import { issueText, validate } from '../../../shared/protocol/validate.ts';
import type { SchemaName } from '../../../shared/protocol/validate.ts';

const CTX = { tenantId: 't', runId: 'r' };
const INVOKE = { v: 2, kind: 'invoke', tool: { id: 'x' }, input: null, ctx: CTX };
const CHECK = { v: 2, kind: 'check-invoke', check: { id: 'x' }, config: {}, trace: null };
const CONNECTION = {
  connectionId: 'c',
  app: 'google',
  appName: 'Google',
  accessToken: 't',
  account: { id: 'i', label: 'l' },
};
const FULL_CTX = {
  ...CTX,
  projectId: 'p',
  orgId: 'o',
  requestId: 'q',
  idempotencyKey: 'a227f4cd-12ae-5689-8403-2a3aa8b27384',
  env: { A: 'b' },
  secrets: { any: 1 },
  connections: { mail: { ...CONNECTION, expiresAt: '2026-01-01T00:00:00Z' } },
  config: {},
  settings: { block: { a: 1 } },
  waitToken: { id: 'w', url: 'https://x.example/1' },
  toolFiles: { url: 'https://x.example/2', token: 't' },
};
const ERROR = { v: 2, kind: 'error', code: 'handler-throw', message: 'm' };
const INFO = { protocol: 2, packId: 'p', packVersion: '1', artifactVersion: '1', tools: [{ id: 'x' }], checks: [] };
const INDEX = {
  v: 1,
  packId: 'p',
  packVersion: '1',
  artifactVersion: '20260101.1',
  publishedAt: '2026-01-01T00:00:00.000Z',
  tools: [],
  guardrails: [],
  agents: [],
  flows: [],
};
const TOOL = { id: 'x', input: {}, output: true, modulePath: 'tools/x.ts' };
const AGENT = { id: 'a', version: '1', name: 'n', instructions: 'i', capabilities: [], tools: [], modulePath: 'a.ts' };

describe('the published schemas', () => {
  test.each<[SchemaName, string, unknown]>([
    ['request', 'D2', INVOKE],
    ['request', 'D3', { ...INVOKE, tool: { id: 'x', version: '1.0.0' }, ctx: FULL_CTX }],
    ['request', 'D23', CHECK],
    ['response', 'D14', { v: 2, kind: 'result', output: null }],
    ['response', 'D42 D43', { v: 2, kind: 'pause', timeoutMs: 2_073_600_000, name: 'n' }],
    ['response', 'D26', { v: 2, kind: 'check-result', result: { passed: true, attributes: {}, more: 1 } }],
    [
      'response',
      'D16',
      { ...ERROR, toolId: 't', cause: null, connection: 'c', issues: [{ instancePath: '', message: 'm', more: 1 }] },
    ],
    ['info', 'D28', { ...INFO, indexHash: `sha256:${'0'.repeat(64)}`, missingEnv: ['A'] }],
    ['index', 'E1 E2', { ...INDEX, env: { required: ['A'], optional: ['_b'] } }],
    ['index', 'E3 E9', { ...INDEX, tools: [{ ...TOOL, pauses: true, newer: { than: 'this' } }] }],
    ['agent', 'E5', { ...AGENT, instructions: { prompt: 'p', version: '1' }, tools: [{ id: 'x', version: '1' }] }],
  ])('%s %s: a valid one is valid', (name, _clause, value) => {
    expect(validate(name, value)).toEqual([]);
  });

  test.each(ERROR_CODES)('D12: the code %s is one', (code) => {
    expect(validate('response', { ...ERROR, code })).toEqual([]);
  });

  test.each<[SchemaName, string, unknown]>([
    ['request', 'D1', { ...INVOKE, v: 1 }],
    ['request', 'D2', { ...INVOKE, more: 1 }],
    ['request', 'D2', { ...INVOKE, tool: { id: '' } }],
    ['request', 'D5', { ...INVOKE, ctx: { ...CTX, connections: { m: { ...CONNECTION, account: {} } } } }],
    ['request', 'D3', { ...INVOKE, ctx: { ...CTX, idempotencyKey: 'x' } }],
    ['request', 'D3', { ...INVOKE, ctx: { tenantId: 't' } }],
    ['response', 'D14', { v: 2, kind: 'result' }],
    ['response', 'D12', { ...ERROR, code: 'other' }],
    ['response', 'D16', { ...ERROR, more: 1 }],
    ['response', 'D17', { ...ERROR, issues: [{ instancePath: 'no-slash', message: 'm' }] }],
    ['response', 'D26', { v: 2, kind: 'check-result', result: { passed: 'yes' } }],
    ['response', 'D43', { v: 2, kind: 'pause', timeoutMs: 2_073_600_001 }],
    ['info', 'D28', { ...INFO, more: 1 }],
    ['info', 'D28', { ...INFO, indexHash: 'sha256:xyz' }],
    ['index', 'E1', { ...INDEX, more: 1 }],
    ['index', 'E1', { ...INDEX, v: 2 }],
    ['index', 'E1', { ...INDEX, publishedAt: 'soon' }],
    ['index', 'E2', { ...INDEX, env: { required: ['KINDGI_X'], optional: [] } }],
    ['index', 'E3', { ...INDEX, tools: [{ id: 'x' }] }],
    ['guardrail', 'E4', { id: 'g', kind: 'k', action: {}, checkModulePath: 'g.ts' }],
    [
      'guardrail',
      'E4',
      { id: 'g', kind: 'k', action: { 'on-violation': 'x' }, checkModulePath: 'g.ts', checkBuiltIn: false },
    ],
    ['agent', 'E5', { ...AGENT, tools: ['x@1'] }],
    ['flow', 'E6', { id: 'f', version: '1', nodes: [], edges: [], kernelPayloadVersion: 2, modulePath: 'f.ts' }],
  ])('%s %s: an invalid one is not', (name, _clause, value) => {
    const issues = validate(name, value);
    expect(issues).not.toEqual([]);
    expect(issueText(issues)).not.toBe('');
  });

  test.each(['/abs.ts', '../x.ts', './x.ts', 'a/../x.ts', 'a/./x.ts', 'a\\x.ts', '', '..'])(
    'E7: %j is no module path',
    (modulePath) => {
      expect(validate('tool', { ...TOOL, modulePath })).not.toEqual([]);
    },
  );

  test.each(['a.ts', 'a/b.c/d.mjs', '...x.ts', 'a/..b/x.ts', '.hidden/x.ts'])('E7: %j is one', (modulePath) => {
    expect(validate('tool', { ...TOOL, modulePath })).toEqual([]);
  });
});
