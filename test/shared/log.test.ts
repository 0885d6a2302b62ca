import { describe, expect, test } from 'vitest';

import { createLog } from '../../shared/log.ts';
import type { LogSettings } from '../../shared/log.ts';

function capture(more: Partial<LogSettings> = {}): {
  settings: LogSettings;
  lines: string[];
  records: () => unknown[];
} {
  const lines: string[] = [];
  const settings: LogSettings = {
    level: 'info',
    levels: new Map(),
    format: 'json',
    write: (line) => lines.push(line),
    ...more,
  };
  return { settings, lines, records: () => lines.map((line) => JSON.parse(line) as unknown) };
}

describe('a log', () => {
  test('C18: writes one JSON object per line, the common fields first', () => {
    const { settings, lines } = capture();
    createLog(settings, 'pack').warn('two\nlines', { a: 1 });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^\{"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","level":"warn","severity":"WARNING","subsystem":"pack","message":"two\\nlines","a":1\}\n$/,
    );
  });

  test('C23: no field can replace a common one', () => {
    const { settings, records } = capture();
    const forged = { subsystem: 'pack', level: 'error', severity: 'x', message: 'x', time: 'x', kept: true };
    createLog(settings, 'pack.tool', { message: 'bound' }).info('true', forged);
    expect(records()).toEqual([
      expect.objectContaining({ subsystem: 'pack.tool', level: 'info', severity: 'INFO', message: 'true', kept: true }),
    ]);
  });

  test.each([
    ['error', 'ERROR'],
    ['warn', 'WARNING'],
    ['info', 'INFO'],
    ['debug', 'DEBUG'],
    ['trace', 'DEBUG'],
  ] as const)('C18: level %s has the severity %s', (level, severity) => {
    const { settings, records } = capture({ level: 'trace' });
    createLog(settings, 'pack')[level]('x');
    expect(records()).toEqual([expect.objectContaining({ level, severity })]);
  });

  test('C.2: writes what its level allows; the longest name that fits decides', () => {
    const levels = new Map([
      ['pack', 'error'],
      ['pack.tool', 'debug'],
    ] as const);
    const { settings, records } = capture({ levels });
    createLog(settings, 'pack').warn('no');
    createLog(settings, 'pack.other').warn('no');
    createLog(settings, 'pack.tool').debug('yes');
    createLog(settings, 'pack.tool').trace('no');
    createLog(settings, 'packet').info('yes');
    expect(records()).toHaveLength(2);
    expect(createLog(settings, 'pack.tool').isLevelEnabled('debug')).toBe(true);
    expect(createLog(settings, 'pack.tool').isLevelEnabled('trace')).toBe(false);
  });

  test('D32: a child adds its fields to every record', () => {
    const { settings, records } = capture();
    createLog(settings, 'pack', { a: 1 }).child({ b: 2 }).child({ a: 3 }).info('x', { c: 4 });
    expect(records()).toEqual([expect.objectContaining({ a: 3, b: 2, c: 4 })]);
  });

  test('D32: takes whatever pack code passes as fields', () => {
    const { settings, records } = capture();
    const log = createLog(settings, 'pack');
    for (const fields of [null, 'text', [1], new Error('e'), undefined]) log.info('x', fields);
    expect(records().map((record) => Object.keys(record as object).slice(5))).toEqual([
      [],
      ['value'],
      ['value'],
      ['error'],
      [],
    ]);
  });

  test('C26: the pretty form is one line for people, without what the message says already', () => {
    const { settings, lines } = capture({ format: 'pretty' });
    createLog(settings, 'pack').info('tool x ok', { id: 'x', a: 'text', b: { c: 1 }, inMessage: ['id'] });
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO  \[pack\] tool x ok a=text b=\{"c":1\}\n$/);
  });
});
