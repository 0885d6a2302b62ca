import { parseArgs } from 'node:util';
import { EXIT } from '../../shared/process/contract.ts';
import { nearest } from '../config/nearest.ts';

/** What a command may know of the world outside. Only `main.ts` fills it from the process; tests fill it themselves. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute; relative paths on the command line count from here. */
  readonly cwd: string;
  /** Data. */
  readonly stdout: NodeJS.WritableStream;
  /** Messages and logs. */
  readonly stderr: NodeJS.WritableStream;
  /** Gives standard input, which nothing touches until it is asked for. Left out: there is none. */
  readonly stdin?: () => NodeJS.ReadableStream;
  readonly isTty: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** Calls `listener` at every arrival of the signal, which then ends the process no more by itself. */
  readonly onSignal: (signal: NodeJS.Signals, listener: () => void) => void;
  /** Calls `listener` for an error that nothing caught, which then ends the process no more by itself. */
  readonly onUncaught: (listener: (error: unknown) => void) => void;
}

/** One option of a command, as `util.parseArgs` takes it, and its line in the help. */
export interface Option {
  readonly type: 'string' | 'boolean';
  /** One letter: `c` for `-c`. */
  readonly short?: string;
  readonly help: string;
  /** What the help shows for the value of a `string` option: `file` gives `--config <file>`. */
  readonly value?: string;
  /** Whether a `string` option may be given several times; its value is then the list of them. */
  readonly isRepeatable?: true;
}

export type Options = Readonly<Record<string, Option>>;

/** One argument without a dash, in the place where it stands in the list. Those that may be missing come last. */
export interface Argument {
  readonly name: string;
  readonly isRequired: boolean;
  readonly help: string;
}

/** The arguments after those that have a place of their own. */
export type Rest = Pick<Argument, 'name' | 'help'>;

/** The given arguments by name; what was not given is missing. */
export type Arguments = Readonly<Record<string, string | undefined>>;

/** Of an option that is not known more closely, any. */
type ValueOf<O extends Option> = Option extends O
  ? boolean | string | readonly string[]
  : O extends { readonly type: 'boolean' }
    ? boolean
    : O extends { readonly isRepeatable: true }
      ? readonly string[]
      : string;

/** The given options by name. `json` is an option of every command; what was not given is missing. */
export type Values<O extends Options = Options> = {
  readonly [K in keyof O]?: ValueOf<O[K]>;
} & { readonly json?: boolean };

/**
 * One command of `packgate`. `--json` and `--help` are added to its options by the frame, which answers `--help`
 * itself. To add one: a file, and a line in `commands.ts`.
 */
export interface Command<O extends Options = Options> {
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** `packgate serve [-c <file>]`. */
  readonly usage: string;
  readonly options: O;
  /** None when left out. */
  readonly arguments?: readonly Argument[];
  /** Any number of further arguments, among them everything after `--`. None when left out. */
  readonly rest?: Rest;
  /** Command lines that work, each with what it does. */
  readonly examples: readonly { readonly line: string; readonly does: string }[];
  /** Where it has others than every command has (`EXIT`): all of them, for the help. */
  readonly exitCodes?: readonly (readonly [code: number, meaning: string])[];
  /**
   * Does the work and resolves with the exit code (`EXIT`).
   * @throws {UsageError} for options that do not go together.
   * @throws {CommandError} for what keeps it from its work.
   */
  run(options: Values<O>, io: Io, given: Arguments, rest: readonly string[]): Promise<number>;
}

/** What keeps a command from its work, with its exit code. `hint` says what to do, as a sentence. */
export class CommandError extends Error {
  readonly exitCode: number;
  readonly hint: string;

  constructor(exitCode: number, message: string, hint: string) {
    super(message);
    this.name = 'CommandError';
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** The command line cannot be understood: exit code 2. */
export class UsageError extends CommandError {
  constructor(message: string, hint: string) {
    super(EXIT.usage, message, hint);
    this.name = 'UsageError';
  }
}

/** The configuration that is read where none is named. */
export const DEFAULT_CONFIG_FILE = 'packgate.yaml';

/** `-c` of every command that reads a configuration. */
export const CONFIG_OPTION = {
  config: {
    type: 'string',
    short: 'c',
    value: 'file',
    help: `the configuration (default: ${DEFAULT_CONFIG_FILE} here)`,
  },
} as const satisfies Options;

/** Options that every command has. */
export const COMMON_OPTIONS = {
  json: { type: 'boolean', help: 'print data as JSON' },
  help: { type: 'boolean', short: 'h', help: 'show this help' },
} as const satisfies Options;

/** What stands on a command line. */
export interface Line {
  readonly options: Readonly<Record<string, string | boolean | readonly string[]>>;
  readonly given: Arguments;
  readonly rest: readonly string[];
}

/**
 * The options and arguments in `argv`, by name. Stricter than `parseArgs` and kinder: an unknown option is a `UsageError`
 * that names the nearest known one, and a value that starts with a dash is taken for a forgotten value (`--config=-x` is
 * possible). After `--` nothing is an option. `takesRest`: further arguments are no error.
 */
export function parseLine(
  argv: readonly string[],
  options: Options,
  expected: readonly Argument[] = [],
  takesRest = false,
): Line {
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { type, short }]) => [
        name,
        short === undefined ? { type } : { type, short },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: Record<string, string | boolean | readonly string[]> = {};
  const given: Record<string, string> = {};
  const rest: string[] = [];
  const missing = [...expected];
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      const argument = missing.shift();
      if (argument === undefined && takesRest) {
        rest.push(token.value);
        continue;
      }
      if (argument === undefined) {
        throw new UsageError(`unexpected argument "${token.value}"`, 'Options start with a dash.');
      }
      given[argument.name] = token.value;
      continue;
    }
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) throw unknownOption(token.rawName, options);
    if (option.type === 'boolean') {
      if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`, `Write ${token.rawName}.`);
      values[token.name] = true;
    } else {
      const isMissing = token.value === undefined || token.value === '';
      // A dash alone is a value: standard input.
      if (isMissing || (!token.inlineValue && token.value.startsWith('-') && token.value !== '-')) {
        throw new UsageError(`${token.rawName} needs a value`, `Write ${token.rawName} <${option.value ?? 'value'}>.`);
      }
      const earlier = values[token.name];
      if (option.isRepeatable === true) values[token.name] = [...(Array.isArray(earlier) ? earlier : []), token.value];
      else values[token.name] = token.value;
    }
  }
  const [first] = missing;
  if (first?.isRequired === true) throw new UsageError(`<${first.name}> is missing`, `It is ${first.help}.`);
  return { options: values, given, rest };
}

function unknownOption(rawName: string, options: Options): UsageError {
  const known = Object.keys(options).map((name) => `--${name}`);
  const near = nearest(rawName, known);
  return new UsageError(
    `unknown option ${rawName}`,
    near === undefined ? `Known options: ${known.join(', ')}.` : `Did you mean ${near}?`,
  );
}
