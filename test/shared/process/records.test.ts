import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { SERVICE_EVENTS } from '../../../shared/process/contract.ts';
import { classifyLine, stringList } from '../../../shared/process/records.ts';

const RECORD = { time: 't', level: 'info', subsystem: 'pack', message: 'm' };

describe('a line of a service', () => {
  test.each(SERVICE_EVENTS)('C21 C24: %s is an event in record form and bare', (event) => {
    expect(classifyLine(JSON.stringify({ ...RECORD, event }))).toMatchObject({ type: 'event', event });
    expect(classifyLine(JSON.stringify({ kind: event, port: 5 }))).toEqual({
      type: 'event',
      event,
      fields: { kind: event, port: 5 },
    });
  });

  test('C23 C24: a record of a handler is no event, whatever event it names', () => {
    const line = JSON.stringify({ ...RECORD, subsystem: 'pack.tool', event: 'listening', kind: 'listening' });
    expect(classifyLine(line)).toMatchObject({ type: 'record' });
    expect(classifyLine(JSON.stringify({ ...RECORD, event: 'other' }))).toMatchObject({ type: 'record' });
  });

  test.each([
    '',
    'text',
    '{',
    '[]',
    'null',
    '{"kind":"progress"}',
    '{"kind":5}',
    '{"event":"listening"}',
    '["kind","listening"]',
  ])('C24: %j is output of the pack', (line) => {
    expect(classifyLine(line)).toEqual({ type: 'output', text: line });
  });

  test('C25: no line whatever makes it throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
        expect(['event', 'record', 'output']).toContain(classifyLine(line).type);
      }),
    );
  });

  test('C25: what is nested deeper than any record is output, so that it can be written again', () => {
    const nested = (depth: number): string =>
      `${JSON.stringify(RECORD).slice(0, -1)},"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(classifyLine(nested(99)).type).toBe('record');
    for (const depth of [100, 30_000]) expect(classifyLine(nested(depth)).type).toBe('output');
    // Brackets in texts are none, escaped quotes end no text, and closed ones do not add up.
    const flat = { ...RECORD, text: '[{"\\'.repeat(500), list: Array.from({ length: 500 }, () => [{}]) };
    expect(classifyLine(JSON.stringify(flat)).type).toBe('record');
  });

  test('C25: of a list only strings are taken', () => {
    expect(stringList(['a', 1, null, 'b'])).toEqual(['a', 'b']);
    expect(stringList('a')).toEqual([]);
  });
});
