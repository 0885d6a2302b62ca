import { describe, expect, it } from 'vitest';
import { readSource } from '../../../gateway/config/source.ts';

/** As JSON shows it: own keys only, whatever their names. */
const dataOf = (yaml: string): string => JSON.stringify(readSource(yaml).value);
const faultsOf = (yaml: string): string[] =>
  readSource(yaml).faults.map(({ position, got }) => `${position.line}:${position.column} ${got}`);

describe('what is read', () => {
  it('is YAML and JSON alike', () => {
    expect(dataOf('a: [1, two]\nb: { c: true }')).toBe('{"a":[1,"two"],"b":{"c":true}}');
    expect(dataOf('{\n\t"a": [1, "two"],\n\t"b": {"c": true}\n}')).toBe('{"a":[1,"two"],"b":{"c":true}}');
    expect(dataOf('\ufeffa: b')).toBe('{"a":"b"}');
  });

  it('keeps keys that mean something to JavaScript as keys of their own', () => {
    const value = readSource('__proto__: { x: 1 }\nconstructor: 2\ntoString: 3').value as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(value.x).toBeUndefined();
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('takes keys as they are written', () => {
    expect(dataOf('0042: a\n1e2: b\ntrue: c\nnull: d\n"5": e')).toBe(
      '{"5":"e","0042":"a","1e2":"b","true":"c","null":"d"}',
    );
  });

  it('follows aliases, and does not merge', () => {
    expect(dataOf('a: &x { y: 1 }\nb: *x\n<<: *x')).toBe('{"a":{"y":1},"b":{"y":1},"<<":{"y":1}}');
  });

  it('has no YAML 1.1 in it, whatever a directive says', () => {
    expect(dataOf('%YAML 1.1\n---\na: yes\nb: 1:30\nc: 2001-01-01')).toBe('{"a":"yes","b":"1:30","c":"2001-01-01"}');
  });
});

describe('what is refused', () => {
  it.each([
    ['a: 1\nb: 2\na: 3', '3:1 one a second time'],
    ['true: 1\n"true": 2', '2:1 one a second time'],
    ['a: !!js/function x', '1:4 one'],
    ['a: !secret x', '1:4 one'],
    ['a: 1\n---\nb: 2', '2:1 several'],
    ['a:\n\t- b', '2:1 a tab'],
    ['a: b: c', '1:4 a second colon (quote the text that holds it)'],
    ['a: "b', '1:6 a quote, bracket or other mark that is not closed'],
    ['a: @b', '1:4 a character that no plain value starts with (quote the text)'],
    ['a: *nobody', '1:4 an unknown one'],
    ['a: &x [*x]', '1:7 far more'],
    ['? [a, b]\n: c', '1:3 something else'],
  ])('%j', (yaml, fault) => {
    expect(faultsOf(yaml)).toEqual([fault]);
  });

  it('is everything at once, a line each', () => {
    expect(faultsOf('a: 1\na: 2\nb: !x 3\nb: 4')).toEqual([
      '2:1 one a second time',
      '4:1 one a second time',
      '3:4 one',
    ]);
  });

  it('is a bomb of aliases, quickly', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let n = 1; n < 12; n += 1)
      lines.push(
        `a${n}: &a${n} [${Array(10)
          .fill(`*a${n - 1}`)
          .join(', ')}]`,
      );
    const started = performance.now();
    expect(faultsOf(lines.join('\n'))).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it('is something nested without end', () => {
    expect(faultsOf('['.repeat(50_000)).length).toBeGreaterThan(0);
    expect(faultsOf(`${'['.repeat(200)}${']'.repeat(200)}`)).toEqual(['1:102 far more']);
  });

  it('is not quoted: it may be a secret', () => {
    const secret = 's3cr3t';
    for (const yaml of [
      `a: "x" ${secret}`,
      `a: |${secret}\n`,
      `a: !<${secret}> x`,
      `%${secret} x\n---\na: b`,
      `- a\n${secret}: c`,
    ]) {
      const { faults } = readSource(yaml);
      expect(faults.length).toBeGreaterThan(0);
      expect(JSON.stringify(faults)).not.toContain(secret);
    }
  });
});

describe('a position', () => {
  const source = readSource('a:\n  b: &x [1, { c: 2 }]\nd: *x\n"e.f": {}');

  it.each([
    [['a'], 'key', 1, 1],
    [['a', 'b'], 'key', 2, 3],
    [['a', 'b'], 'value', 2, 9],
    [['a', 'b', 1, 'c'], 'value', 2, 18],
    [['d', 1, 'c'], 'value', 2, 18],
    [['e.f'], 'value', 4, 8],
  ] as const)('of %j (%s) is %d:%d', (path, part, line, column) => {
    expect(source.positionOf(path, part)).toEqual({ line, column });
  });

  it('of something missing is that of what should hold it', () => {
    expect(source.positionOf(['a', 'nope', 'x'], 'value')).toEqual({ line: 1, column: 1 });
    expect(source.positionOf(['nope'], 'value')).toEqual({ line: 1, column: 1 });
  });
});
