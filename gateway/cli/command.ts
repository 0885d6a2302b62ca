import { parseArgs } from 'node:util';
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
}

export type Options = Readonly<Record<string, Option>>;

type ValueOf<T extends Option['type']> = T extends 'boolean' ? boolean : string;

/** The given options by name. `json` is an option of every command; what was not given is missing. */
export type Values<O extends Options = Options> = {
  readonly [K in keyof O]?: ValueOf<O[K]['type']>;
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
  /** Command lines that work, each with what it does. */
  readonly examples: readonly { readonly line: string; readonly does: string }[];
  /** Does the work and resolves with the exit code (`EXIT`). Throws `UsageError` for options that do not go together. */
  run(options: Values<O>, io: Io): Promise<number>;
}

/** The command line cannot be understood: exit code 2. `hint` says what to do. */
export class UsageError extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.name = 'UsageError';
    this.hint = hint;
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

/**
 * The options in `argv`, by name. Stricter than `parseArgs` and kinder: an unknown option is a `UsageError` that names
 * the nearest known one, and a value that starts with a dash is taken for a forgotten value (`--config=-x` is possible).
 */
export function parseOptions(argv: readonly string[], options: Options): Record<string, string | boolean> {
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
  const values: Record<string, string | boolean> = {};
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      throw new UsageError(`unexpected argument "${token.value}"`, 'Options start with a dash.');
    }
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) throw unknownOption(token.rawName, options);
    if (option.type === 'boolean') {
      if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`, `Write ${token.rawName}.`);
      values[token.name] = true;
    } else {
      const isMissing = token.value === undefined || token.value === '';
      if (isMissing || (!token.inlineValue && token.value.startsWith('-'))) {
        throw new UsageError(`${token.rawName} needs a value`, `Write ${token.rawName} <${option.value ?? 'value'}>.`);
      }
      values[token.name] = token.value;
    }
  }
  return values;
}

function unknownOption(rawName: string, options: Options): UsageError {
  const known = Object.keys(options).map((name) => `--${name}`);
  const near = nearest(rawName, known);
  return new UsageError(
    `unknown option ${rawName}`,
    near === undefined ? `Known options: ${known.join(', ')}.` : `Did you mean ${near}?`,
  );
}
