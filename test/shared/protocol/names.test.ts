import { describe, expect, test } from 'vitest';

import { isJsonType } from '../../../shared/protocol/headers.ts';
import { isUuid, parseTenantId, tenantKey } from '../../../shared/protocol/tenantId.ts';
import { parseTimeoutMs } from '../../../shared/protocol/timeout.ts';

const UUID = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';

describe('a tenant id', () => {
  test('B2 B10: UUIDs are compared without case, others exactly', () => {
    expect(parseTenantId(UUID.toUpperCase())).toEqual({ id: UUID.toUpperCase(), key: UUID });
    expect(parseTenantId('Acme')).toEqual({ id: 'Acme', key: 'Acme' });
    expect(tenantKey(` ${UUID.toUpperCase()}`)).not.toBe(UUID);
    expect(isUuid('00000000-0000-0000-0000-000000000000')).toBe(true);
    expect(isUuid(`{${UUID}}`)).toBe(false);
  });

  test.each(['', ' ', 'a b', 'a\n', 'größe', 'x'.repeat(129), '\u007f', undefined])('B10: %j is none', (text) => {
    expect(parseTenantId(text)).toBeUndefined();
  });

  test.each(['__proto__', 'constructor', '../etc', '.', 'a%2Fb', 'x'.repeat(128), '!'])('B10: %j is one', (text) => {
    expect(parseTenantId(text)).toEqual({ id: text, key: text });
  });
});

describe('a deadline header', () => {
  test.each([
    ['100', 100],
    [' 0100\t', 100],
    ['2147483647', 2_147_483_647],
    ['2147483648', 2_147_483_647],
    ['9'.repeat(400), 2_147_483_647],
  ])('A34 A35 A36: %j is %s ms', (text, ms) => {
    expect(parseTimeoutMs(text)).toBe(ms);
  });

  test.each([
    undefined,
    '',
    '0',
    '000',
    '-1',
    '+100',
    '1e2',
    '100.0',
    '0x64',
    '1_00',
    '100, 200',
    'Infinity',
    '１００',
  ])('A33 A34 A35: %j means the default', (text) => {
    expect(parseTimeoutMs(text)).toBe(120_000);
  });
});

describe('a content type', () => {
  test.each(['application/json', 'APPLICATION/Json', 'application/json;charset=utf-8', ' application/json ; a=b'])(
    'A22: %j is JSON',
    (type) => expect(isJsonType(type)).toBe(true),
  );

  test.each([
    undefined,
    '',
    'text/plain',
    'application/jsonx',
    'text/application/json',
    'application/problem+json',
    'text/plain, application/json',
  ])('A22: %j is not', (type) => expect(isJsonType(type)).toBe(false));
});
