import fc from 'fast-check';

import { TOKEN } from '../support/child.ts';
import { CHECK, TOOLS } from './pack.ts';

/** One request, as bytes and not as an HTTP library would let it through. */
export interface AnyRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Size of each chunk; 0: with a length. */
  readonly chunkBytes: number;
}

export const TENANT = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';

const json = fc.jsonValue({ maxDepth: 4 });
/** Mostly what belongs there, sometimes anything, sometimes nothing. */
const mostly = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 40, arbitrary: usual },
    { weight: 1, arbitrary: json },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
const oddName = fc.constantFrom('', '__proto__', 'constructor', 'toString', '../x', 'größe', '\ud800', '\u0000');

const id = mostly(fc.oneof({ weight: 40, arbitrary: fc.constantFrom(...TOOLS) }, oddName));
const place = fc.record({ url: mostly(fc.constant('http://127.0.0.1:1/f')), token: mostly(fc.constant('t')) });
const ctx = fc.record(
  {
    tenantId: mostly(fc.constantFrom(TENANT, TENANT.toUpperCase(), 'another')),
    runId: mostly(fc.string()),
    requestId: json,
    projectId: json,
    idempotencyKey: mostly(fc.uuid()),
    secrets: json,
    env: json,
    connections: mostly(fc.dictionary(fc.string(), json)),
    waitToken: mostly(fc.record({ id: fc.string(), url: fc.webUrl() })),
    toolFiles: mostly(place),
    log: json,
    files: json,
    abortSignal: json,
    more: json,
  },
  { requiredKeys: ['tenantId', 'runId'] },
);

/** Inputs on both sides of what the schemas of the pack allow. */
const input = fc.oneof(
  json,
  fc.record(
    { value: json, text: mostly(fc.string({ maxLength: 6 })), count: json, list: fc.array(json) },
    { requiredKeys: [] },
  ),
  fc.record({ timeoutMs: fc.oneof(fc.integer(), fc.double()), name: json }, { requiredKeys: [] }),
  fc.string({ unit: 'binary' }),
);

const invokeMessage = fc.record({
  v: mostly(fc.constant(2)),
  kind: mostly(fc.constant('invoke')),
  tool: mostly(fc.record({ id, version: mostly(fc.constant('1.0.0')) })),
  input,
  ctx: mostly(ctx),
});
const checkMessage = fc.record({
  v: fc.constant(2),
  kind: fc.constant('check-invoke'),
  check: mostly(fc.record({ id: mostly(fc.constant(CHECK)) })),
  config: mostly(
    fc.record({ verdict: mostly(fc.oneof(fc.boolean(), fc.record({ passed: json, reason: json }))), more: json }),
  ),
  trace: json,
});

const messageText = fc
  .oneof(
    { weight: 8, arbitrary: invokeMessage },
    { weight: 4, arbitrary: checkMessage },
    { weight: 1, arbitrary: json },
  )
  .map((value) => JSON.stringify(value) ?? '');
/** A value inside a message, nested as deep as it gets. */
const deepText = fc
  .tuple(fc.integer({ min: 1, max: 20_000 }), fc.constantFrom('[]', '{"a":}', '[{"list":}]'))
  .map(([depth, shape]) => {
    const [open = '', close = ''] = shape === '[]' ? ['[', ']'] : shape.split(/(?<=:)/);
    const nested = `${open.repeat(depth)}1${close.repeat(depth)}`;
    return `{"v":2,"kind":"invoke","tool":{"id":"acme.rich"},"input":{"list":${nested}},"ctx":{"tenantId":"${TENANT}","runId":"r"}}`;
  });

const body: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 20, arbitrary: messageText.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: deepText.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.tuple(messageText, fc.nat(400)).map(([text, at]) => Buffer.from(text.slice(0, at))) },
  {
    weight: 1,
    arbitrary: fc.tuple(messageText, fc.nat(400), fc.integer({ min: 0, max: 255 })).map(([text, at, byte]) => {
      const bytes = Buffer.from(text);
      if (at < bytes.length) bytes[at] = byte;
      return bytes;
    }),
  },
);

const textOf = (from: number): fc.Arbitrary<string> =>
  fc
    .string({ unit: fc.integer({ min: from, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 60 })
    .map((text) => text.replaceAll(/[\r\n]/g, ' '));
/** Any bytes that can be a header's value on the wire, and now and then some that cannot, which is HTTP's own 400. */
const headerValue = fc.oneof(
  { weight: 20, arbitrary: textOf(0x20) },
  { weight: 1, arbitrary: textOf(1) },
  {
    weight: 20,
    arbitrary: fc.constantFrom(
      '',
      '\t',
      '0',
      '1',
      '-1',
      '99999999999999999999',
      '1e3',
      'application/json',
      TENANT,
      TOKEN,
    ),
  },
);
const header = (name: string, usual: string): fc.Arbitrary<readonly (readonly [string, string])[]> =>
  fc.oneof(
    { weight: 40, arbitrary: fc.constant([[name, usual] as const]) },
    { weight: 1, arbitrary: headerValue.map((value) => [[name, value] as const]) },
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: headerValue.map((value) => [[name, usual] as const, [name, value] as const]) },
  );
const otherHeader = fc.tuple(
  fc.constantFrom(
    'kindgi-timeout-ms',
    'kindgi-run-id',
    'kindgi-request-id',
    'kindgi-protocol',
    'traceparent',
    'tracestate',
    'authorization',
    'content-encoding',
    'accept',
    'x-more',
    'cookie',
  ),
  headerValue,
);

const headers = fc
  .tuple(
    header('kindgi-pack-token', TOKEN),
    header('kindgi-tenant-id', TENANT),
    header('content-type', 'application/json'),
    fc.array(otherHeader, { maxLength: 4 }),
  )
  .map((parts) => parts.flat());

export const anyRequest: fc.Arbitrary<AnyRequest> = fc.record({
  method: fc.oneof(
    { weight: 60, arbitrary: fc.constant('POST') },
    fc.constantFrom('GET', 'PUT', 'OPTIONS', 'DELETE', 'PATCH'),
  ),
  target: fc.oneof(
    { weight: 60, arbitrary: fc.constant('/v1/invoke') },
    fc.constantFrom('/v1/info', '/healthz', '/readyz', '/', '*', '/v1/invoke/', '/%00', '//', '/v1/invoke?x=%ff', '/é'),
  ),
  headers,
  body,
  chunkBytes: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 50 })),
});

export function encode({ method, target, headers: given, body: bytes, chunkBytes }: AnyRequest): Buffer {
  const framing = chunkBytes === 0 ? `Content-Length: ${bytes.length}` : 'Transfer-Encoding: chunked';
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: x',
    'Connection: close',
    ...given.map((pair) => pair.join(': ')),
    framing,
  ];
  const parts: Buffer[] = [Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')];
  if (chunkBytes === 0) return Buffer.concat([...parts, bytes]);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const part = bytes.subarray(at, at + chunkBytes);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}
