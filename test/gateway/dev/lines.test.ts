import { describe, expect, it } from 'vitest';
import { paintFor } from '../../../gateway/cli/paint.ts';
import { linesOf, problemLine } from '../../../gateway/dev/lines.ts';
import { Prefixes } from '../../../gateway/dev/prefixes.ts';

const PLAIN = paintFor({ env: {}, isTty: { stdin: false, stdout: false, stderr: false } });

describe('what a person is shown of a record', () => {
  it.each([
    [
      'a call, as its pack tells it',
      { event: 'pack-record', level: 'info', record: { event: 'call', id: 'a.b', outcome: 'ok', durationMs: 3.2 } },
      ['a.b  ok  3.2 ms'],
    ],
    [
      'a call in the bare form of older services',
      {
        event: 'pack-record',
        record: { kind: 'call', target: 'tool', id: 'a.b', outcome: 'handler-throw', durationMs: 1 },
      },
      ['a.b  handler-throw  1 ms'],
    ],
    [
      'not again, as the gateway tells it',
      { event: 'call', route: 'invoke', status: 200, outcome: 'answered', handedOver: 'yes', durationMs: 4 },
      [],
    ],
    [
      'a refusal',
      { event: 'call', route: 'invoke', status: 503, code: 'cooling', handedOver: 'no', durationMs: 4 },
      ['cooling 503  4 ms'],
    ],
    [
      'a call whose process was lost',
      { event: 'call', route: 'invoke', outcome: 'lost', handedOver: 'yes', durationMs: 4 },
      ['lost  4 ms'],
    ],
    ['what is printed, line by line', { event: 'output', output: 'a\u0007\tb' }, ['a\\u{7} b']],
    [
      'what a handler logs, with its fields and without the ids of the call',
      {
        event: 'pack-record',
        level: 'warn',
        record: { level: 'warn', message: 'careful', toolId: 'x', runId: 'y', n: 1 },
      },
      ['! careful n=1'],
    ],
    [
      'a crash',
      { event: 'instance-exited', expected: false, exit: { kind: 'code', code: 7 } },
      ['✗ the process ended by itself (exit code 7); the next call starts it again'],
    ],
    ['an end that was meant', { event: 'instance-exited', expected: true, exit: { kind: 'code', code: 0 } }, []],
    [
      'a start for a call that failed',
      { event: 'start-failed', cause: 'call', message: 'no', problems: ['a.b: t.ts:1:2: x'] },
      ['✗ not started: no', '  t.ts:1:2: x'],
    ],
    [
      'a start for a save, which is told with the save',
      { event: 'start-failed', cause: 'reload', message: 'no', problems: [] },
      [],
    ],
    [
      'a save',
      { event: 'pack-served', files: ['a.ts', 'b.ts', 'c.ts', 'd.ts'], durationMs: 200 },
      ['✓ saved, served after 200 ms (a.ts, b.ts, c.ts and 1 more)'],
    ],
    [
      'a broken one; what several tools report is said once',
      {
        event: 'pack-broken',
        isServing: false,
        files: ['a.ts'],
        problems: ['x.a: t.ts:1:2: bad', 'x.b: t.ts:1:2: bad'],
      },
      ['✗ broken: nothing serves until it is mended (a.ts)', '  t.ts:1:2: bad'],
    ],
    ['any other warning', { event: 'log-dropped', level: 'warn', message: 'too slow' }, ['! too slow']],
    ['no other news', { event: 'instance-ready', level: 'info', message: 'instance ready' }, []],
  ])('%s', (_, record, lines) => {
    expect(linesOf(record, PLAIN)).toEqual(lines);
  });

  it.each([
    ['tools/a.ts: file-import-failed: tools/a.ts:3:7: SyntaxError: no', 'tools/a.ts:3:7: SyntaxError: no'],
    ['acme.a: tools/a.ts:3:7: no', 'tools/a.ts:3:7: no'],
    ['tools/a.ts: no-default-export: tools/a.ts: nothing is exported', 'tools/a.ts: nothing is exported'],
    ['tools/a.ts: file-import-failed: tools/a.ts: SyntaxError: no (at lib/b.ts:3:7)', 'lib/b.ts:3:7: SyntaxError: no'],
    ['ended with exit code 1 before it was ready', 'ended with exit code 1 before it was ready'],
  ])('puts the place in front: %s', (problem, line) => {
    expect(problemLine(problem)).toBe(line);
  });
});

describe('prefixes', () => {
  it('are a column, in colours that packs keep, and empty for nobody', () => {
    const prefixes = new Prefixes(true);
    prefixes.add('t1', 'billing');
    prefixes.add('t2', 'crm\u001b');
    const [first, second, nobody] = ['t1', 't2', undefined].map((id) => prefixes.of(id));
    // eslint-disable-next-line no-control-regex
    expect([first, second].map((text) => /^\u001b\[(\d+)m(.*)\u001b\[39m {2}$/.exec(text ?? '')?.slice(1))).toEqual([
      ['36', 'billing  '],
      ['35', 'crm\\u{1b}'],
    ]);
    expect(nobody).toBe(' '.repeat(11));
    prefixes.add('t1', 'billing');
    expect(prefixes.of('t1')).toBe(first);
  });

  it('have no colours where none are wanted', () => {
    const prefixes = new Prefixes(false);
    prefixes.add('t1', 'billing');
    expect(prefixes.of('t1')).toBe('billing  ');
  });
});
