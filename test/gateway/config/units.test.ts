import { describe, expect, it } from 'vitest';
import { parseDurationMs, parseSizeBytes } from '../../../gateway/config/units.ts';

describe('a duration', () => {
  it.each([
    ['250ms', 250],
    ['8s', 8000],
    ['1.5s', 1500],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['0s', 0],
    ['2147483647ms', 2_147_483_647],
  ])('of %s is %d ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  it.each([
    '',
    '8',
    '-1s',
    '1 s',
    '1S',
    '1sec',
    's',
    '1e3s',
    '.5s',
    '1.s',
    '1s2ms',
    '25d',
    '2147483648ms',
    ' 1s',
    '1s\n',
  ])('is not %j', (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });
});

describe('a size', () => {
  it.each([
    ['0B', 0],
    ['512B', 512],
    ['1KiB', 1024],
    ['1.5MiB', 1_572_864],
    ['64MiB', 67_108_864],
    ['2GiB', 2_147_483_648],
  ])('of %s is %d bytes', (text, bytes) => {
    expect(parseSizeBytes(text)).toBe(bytes);
  });

  it.each(['', '64', '64MB', '64 MiB', '64mib', '-1MiB', '99999999999GiB'])('is not %j', (text) => {
    expect(parseSizeBytes(text)).toBeUndefined();
  });
});
