import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { redact } from '../../shared/redact.ts';

describe('redaction', () => {
  test.each([
    'authorization',
    'Proxy-Authorization',
    'cookie',
    'set-cookie',
    'token',
    'kindgi-pack-token',
    'accessToken',
    'waitToken',
    'PASSWORD',
    'db_passwd',
    'secret',
    'secrets',
    'client_secret',
    'API-Key',
    'private_key',
    'passPhrase',
    'credential',
    'aws_credentials',
  ])('C27: a field named %s is replaced at any depth', (name) => {
    expect(redact({ [name]: { deep: 'value' }, list: [{ [name]: 'value' }] })).toEqual({
      [name]: '[redacted]',
      list: [{ [name]: '[redacted]' }],
    });
  });

  test.each(['tokens', 'tokenCount', 'secretary', 'apikeys', 'keyboard'])('C27: a field named %s is kept', (name) => {
    expect(redact({ [name]: 1 })).toEqual({ [name]: 1 });
  });

  test.each([
    ['kgi_live_abc-DEF_123 here', 'kgi_[redacted] here'],
    ['Authorization: Bearer abc.def-g/h+i=', 'Authorization: Bearer [redacted]'],
    ['postgres://user:p4ss@db/x', 'postgres://user:***@db/x'],
    ['http://host:8080/a@b', 'http://host:8080/a@b'],
    ['nothing to hide', 'nothing to hide'],
  ])('C27: the text %j becomes %j', (text, expected) => {
    expect(redact({ text, list: [text] })).toEqual({ text: expected, list: [expected] });
  });

  test('C27: cycles and depths become marks, a value that is there twice is no cycle', () => {
    const cyclic: Record<string, unknown> = { a: 1 };
    cyclic.self = { cyclic };
    expect(redact(cyclic)).toEqual({ a: 1, self: { cyclic: '[cycle]' } });
    const twice = { x: 1 };
    expect(redact([twice, twice])).toEqual([twice, twice]);
    const deep = JSON.parse('{"n":'.repeat(20) + '0' + '}'.repeat(20)) as unknown;
    expect(JSON.stringify(redact(deep))).toBe(`${'{"n":'.repeat(9)}"[too deep]"${'}'.repeat(9)}`);
  });

  test('C27: values JSON does not know are shown as text or left out', () => {
    const throwing = {
      get bad(): never {
        throw new Error('no');
      },
    };
    expect(redact({ n: 1n, f: () => 1, s: Symbol('s'), d: new Date(0), b: Buffer.from('abc'), throwing })).toEqual({
      n: '1',
      f: undefined,
      s: undefined,
      d: '1970-01-01T00:00:00.000Z',
      b: '[3 bytes]',
      throwing: '[unreadable]',
    });
    expect(redact({ e: new TypeError('Bearer abc') })).toMatchObject({
      e: { name: 'TypeError', message: 'Bearer [redacted]' },
    });
  });

  test('C27: anything can be redacted, and the result is JSON', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (value) => {
          expect(() => JSON.stringify(redact(value))).not.toThrow();
        },
      ),
    );
  });
});
