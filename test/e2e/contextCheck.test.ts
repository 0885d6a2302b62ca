// The tenant in a body's context, where the child does not look: seen exactly as the child's parser sees it.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { afterAllTests } from '../support/atEnd.ts';
import { STUB_TOOL } from '../support/calls.ts';
import { expectTenantMismatch } from '../support/expectations.ts';
import { hostStubs } from '../support/hostedStubs.ts';
import type { HostedStub } from '../support/hostedStubs.ts';

const OURS = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
const THEIRS = '8d1c6c0e-0d3f-4c52-9c52-6a1f8f6f2b10';

const context = (tenantId: string): string => `{"tenantId":"${tenantId}","runId":"r","requestId":"q"}`;
const head = `"v":2,"kind":"invoke","tool":{"id":"${STUB_TOOL}"}`;
/** In the input: a context that is none, and everything that confuses a search for one. */
const decoys = (tenantId: string): string =>
  `{"ctx":${context(tenantId)},"tenantId":"${tenantId}","text":"\\"ctx\\":{\\"tenantId\\":\\"${tenantId}\\"}}","deep":[[[{"ctx":1}]]]}`;

/** Bodies for another tenant that look like ours. */
const FOREIGN: [string, (fill: string) => string][] = [
  ['a plain foreign context', (fill) => `{${head},"input":"${fill}","ctx":${context(THEIRS)}}`],
  ['ours first, theirs last', (fill) => `{"ctx":${context(OURS)},${head},"input":"${fill}","ctx":${context(THEIRS)}}`],
  [
    'a tenant id twice in one context',
    (fill) => `{${head},"input":"${fill}","ctx":{"tenantId":"${OURS}","runId":"r","tenantId":"${THEIRS}"}}`,
  ],
  [
    'escaped keys',
    (fill) =>
      `{"ctx":${context(OURS)},${head},"input":"${fill}","\\u0063tx":{"tenant\\u0049d":"${THEIRS}","runId":"r"}}`,
  ],
  [
    'an escaped value',
    (fill) => `{${head},"input":"${fill}","ctx":{"tenantId":"\\u0038${THEIRS.slice(1)}","runId":"r"}}`,
  ],
  [
    'our context as a decoy in the input',
    (fill) => `{${head},"input":[${decoys(OURS)},"${fill}"],"ctx":${context(THEIRS)}}`,
  ],
  ['a blank in front of our id', (fill) => `{${head},"input":"${fill}","ctx":${context(` ${OURS}`)}}`],
];

/** Bodies of ours that look foreign. */
const OUR_OWN: [string, (fill: string) => string][] = [
  ['theirs first, ours last', (fill) => `{"ctx":${context(THEIRS)},${head},"input":"${fill}","ctx":${context(OURS)}}`],
  [
    'their context as a decoy in the input',
    (fill) => `{${head},"input":[${decoys(THEIRS)},"${fill}"],"ctx":${context(OURS)}}`,
  ],
  ['our id in capitals', (fill) => `{${head},"input":"${fill}","ctx":${context(OURS.toUpperCase())}}`],
  ['escaped keys', (fill) => `{${head},"input":"${fill}","\\u0063tx":{"tenant\\u0049d":"${OURS}","runId":"r"}}`],
];

describe.each([
  ['a small body', 10],
  ['a body of 1 MB', 1_000_000],
])('%s', (_, fillBytes) => {
  const atEnd = afterAllTests();
  const fill = 'x'.repeat(fillBytes);
  let stub: HostedStub;

  beforeAll(async () => {
    const behaviour = { checksHeader: false, checksContext: false };
    const { stubs } = await hostStubs({ a: { tenantId: OURS, behaviour } }, {}, atEnd);
    stub = stubs.a;
    await stub.invoke();
  });

  it.each(FOREIGN)('B11: %s is 421 and does not run', async (_form, body) => {
    const before = stub.runs().length;
    expectTenantMismatch(await stub.post(body(fill)));
    expect(stub.runs()).toHaveLength(before);
  });

  it.each(OUR_OWN)('B11: %s runs', async (_form, body) => {
    const before = stub.runs().length;
    expect((await stub.post(body(fill))).status).toBe(200);
    expect(stub.runs()).toHaveLength(before + 1);
  });

  it('a body nested 5,000 levels deep is answered, and the gateway lives', async () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const answer = await stub.post(`{${head},"input":${deep},"ctx":${context(THEIRS)}}`);
    expect([200, 421]).toContain(answer.status);
    expect(stub.runs().every(({ tenantId }) => tenantId.toLowerCase() === OURS)).toBe(true);
    const requestId = randomUUID();
    expect((await stub.invoke({ requestId })).status).toBe(200);
    expect(stub.ranIds()).toContain(requestId);
  });
});
