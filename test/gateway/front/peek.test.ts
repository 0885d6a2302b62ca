import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isForeign, peek } from '../../../gateway/front/peek.ts';
import type { Peeked } from '../../../gateway/front/peek.ts';

const KEYS = ['v', 'kind', 'tool', 'check', 'ctx', 'id', 'tenantId', 'runId', '__proto__', 'a'];

/** A key, now and then written with escapes: the parser sees the same. */
const key = fc
  .tuple(fc.constantFrom(...KEYS), fc.boolean())
  .map(([text, escaped]) =>
    escaped
      ? `"${Array.from(text, (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(text),
  );
const blank = fc.constantFrom('', ' ', '\n\t', '  \r\n');

/** JSON texts with repeated keys, which `JSON.stringify` never writes. */
const { text } = fc.letrec<{ text: string; object: string }>((tie) => ({
  text: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc
      .oneof(fc.string(), fc.constantFrom('invoke', 'check-invoke', 'a"b\\', '}{][,:"', 'ü'))
      .map((s) => JSON.stringify(s)),
    fc
      .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(2))
      .map((n) => JSON.stringify(n)),
    fc.constantFrom('null', 'true', 'false', '2.0', '20e-1'),
    fc.array(tie('text'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(blank, key, blank, tie('text'), blank), { maxLength: 6 })
    .map((members) => `{${members.map(([a, name, b, value, c]) => `${a}${name}${b}:${value}${c}`).join(',')}}`),
}));

/** What a parser finds. */
function parsed(body: string): Peeked {
  const value: unknown = JSON.parse(body);
  const object = asObject(value);
  const [tool, check, ctx] = ['tool', 'check', 'ctx'].map((name) => asObject(own(object, name)));
  const found: Record<string, unknown> = {
    v: own(object, 'v'),
    kind: own(object, 'kind'),
    toolId: own(tool, 'id'),
    checkId: own(check, 'id'),
    tenantId: own(ctx, 'tenantId'),
    runId: own(ctx, 'runId'),
  };
  for (const [name, item] of Object.entries(found)) {
    if (typeof item !== (name === 'v' ? 'number' : 'string')) delete found[name];
  }
  return found;
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function own(object: Record<string, unknown> | undefined, name: string): unknown {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}

describe('peeking into a body', () => {
  it('finds exactly what a parser finds in any JSON text, repeated and escaped keys included', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (body) => {
        expect(await peek(Buffer.from(body))).toEqual(parsed(body));
      }),
      { numRuns: 2000 },
    );
  });

  it('ends without a throw on any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        expect(typeof (await peek(Buffer.from(bytes)))).toBe('object');
      }),
      { numRuns: 1000 },
    );
  });

  it('takes the last of two contexts, whole', async () => {
    const body = '{"ctx":{"tenantId":"a","runId":"r"},"ctx":{"tenantId":"b"}}';
    expect(await peek(Buffer.from(body))).toEqual({ tenantId: 'b' });
  });

  it('forgets a context that is followed by something that is none', async () => {
    expect(await peek(Buffer.from('{"ctx":{"tenantId":"a"},"ctx":5}'))).toEqual({});
  });

  it('reads a large body in turns, so that other work goes on meanwhile', async () => {
    const body = Buffer.from(`{"input":${JSON.stringify('x\\"'.repeat(1_500_000))},"ctx":{"tenantId":"a"}}`);
    const many = Buffer.from(`{"input":[${'{"a":"b"},'.repeat(300_000)}0],"ctx":{"tenantId":"a"}}`);
    let turns = 0;
    const count = (): void => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    expect(await peek(many)).toEqual({ tenantId: 'a' });
    expect(await peek(body)).toEqual({ tenantId: 'a' });
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(20);
  });
});

describe('a foreign call', () => {
  const call: Peeked = { v: 2, kind: 'invoke', toolId: 't', tenantId: 'b', runId: 'r' };

  it('is a well-formed tool call whose context names another tenant', () => {
    expect(isForeign(call, 'a')).toBe(true);
    expect(isForeign({ ...call, tenantId: 'a' }, 'a')).toBe(false);
  });

  it('is not seen in a message that the service refuses anyway, nor in a check', () => {
    const { runId: _, ...withoutRun } = call;
    expect(isForeign(withoutRun, 'a')).toBe(false);
    expect(isForeign({ ...call, v: 3 }, 'a')).toBe(false);
    expect(isForeign({ ...call, kind: 'check-invoke' }, 'a')).toBe(false);
  });

  it('ignores letter case in a UUID and only there', () => {
    const id = '3F2B8C1E-4A5D-4E6F-9A0B-1C2D3E4F5A6B';
    expect(isForeign({ ...call, tenantId: id }, id.toLowerCase())).toBe(false);
    expect(isForeign({ ...call, tenantId: 'Acme' }, 'acme')).toBe(true);
  });
});
