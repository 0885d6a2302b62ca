import { describe, expect, it } from 'vitest';
import { parseLine, UsageError } from '../../../gateway/cli/command.ts';
import type { Argument, Options } from '../../../gateway/cli/command.ts';

const OPTIONS: Options = {
  config: { type: 'string', short: 'c', help: '' },
  env: { type: 'string', isRepeatable: true, help: '' },
  json: { type: 'boolean', help: '' },
  verbose: { type: 'boolean', short: 'v', help: '' },
};

/** Message and hint of the UsageError that these arguments give. */
function usageError(...argv: string[]): [string, string] {
  try {
    parseLine(argv, OPTIONS);
  } catch (error) {
    if (error instanceof UsageError) return [error.message, error.hint];
    throw error;
  }
  throw new Error('there was none');
}

describe('options', () => {
  it.each<[string[], Record<string, string | boolean | string[]>]>([
    [[], {}],
    [['--env', 'a=1', '--env=b=2'], { env: ['a=1', 'b=2'] }],
    [['-c', 'x.yaml', '--json'], { config: 'x.yaml', json: true }],
    [['-cx.yaml'], { config: 'x.yaml' }],
    [['-vc', 'x.yaml'], { verbose: true, config: 'x.yaml' }],
    [['--config=-x'], { config: '-x' }],
    [['--config', 'a', '--config', 'b'], { config: 'b' }],
    [['--json', '--'], { json: true }],
    [['-c', '-'], { config: '-' }],
  ])('of %j are read', (argv, values) => {
    expect(parseLine(argv, OPTIONS)).toEqual({ options: values, given: {}, rest: [] });
  });

  it.each([
    [['--jsno'], 'unknown option --jsno', 'Did you mean --json?'],
    [['--cofnig=x'], 'unknown option --cofnig', 'Did you mean --config?'],
    [['--zzzzzzzz'], 'unknown option --zzzzzzzz', 'Known options: --config, --env, --json, --verbose.'],
    [['--constructor'], 'unknown option --constructor', 'Known options: --config, --env, --json, --verbose.'],
    [['--__proto__=x'], 'unknown option --__proto__', 'Known options: --config, --env, --json, --verbose.'],
    [['-x'], 'unknown option -x', 'Known options: --config, --env, --json, --verbose.'],
    [['--config'], '--config needs a value', 'Write --config <value>.'],
    [['-c', '--json'], '-c needs a value', 'Write -c <value>.'],
    [['--config='], '--config needs a value', 'Write --config <value>.'],
    [['--json=yes'], '--json takes no value', 'Write --json.'],
    [['x.yaml'], 'unexpected argument "x.yaml"', 'Options start with a dash.'],
    [['--', '-c'], 'unexpected argument "-c"', 'Options start with a dash.'],
  ])('of %j are refused', (argv, message, hint) => {
    expect(usageError(...argv)).toEqual([message, hint]);
  });
});

describe('arguments', () => {
  const EXPECTED: Argument[] = [
    { name: 'tool', isRequired: true, help: 'the tool' },
    { name: 'input', isRequired: false, help: 'its input' },
  ];

  it.each<[string[], Record<string, string>]>([
    [['a'], { tool: 'a' }],
    [['a', 'b'], { tool: 'a', input: 'b' }],
    [['--json', 'a', '-c', 'x', 'b'], { tool: 'a', input: 'b' }],
    [['--', '--a', '-'], { tool: '--a', input: '-' }],
    [['__proto__', 'constructor'], { tool: '__proto__', input: 'constructor' }],
  ])('of %j are read in their order', (argv, given) => {
    expect(parseLine(argv, OPTIONS, EXPECTED).given).toEqual(given);
  });

  it('beyond those that have a place are left as they are, where a command takes them', () => {
    const { given, rest, options } = parseLine(
      ['--json', 'a', 'b', '--', 'c', '--json', '-x'],
      OPTIONS,
      EXPECTED,
      true,
    );
    expect({ given, rest, options }).toEqual({
      given: { tool: 'a', input: 'b' },
      rest: ['c', '--json', '-x'],
      options: { json: true },
    });
  });

  it('that are required and missing, or too many, are refused', () => {
    expect(() => parseLine(['--json'], OPTIONS, EXPECTED)).toThrow('<tool> is missing');
    expect(() => parseLine(['a', 'b', 'c'], OPTIONS, EXPECTED)).toThrow('unexpected argument "c"');
  });
});
