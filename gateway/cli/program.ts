import { EXIT } from '../../shared/process/contract.ts';
import { nearest } from '../config/nearest.ts';
import { COMMON_OPTIONS, CommandError, parseLine, UsageError } from './command.ts';
import type { Command, Io } from './command.ts';
import { COMMANDS } from './commands.ts';
import { commandHelp, programHelp } from './usage.ts';
import { VERSION } from './version.ts';

/**
 * `packgate`: finds the command that `argv` (without program and script) names, runs it and resolves with the exit code.
 * Only bugs are thrown.
 */
export async function runProgram(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    io.stderr.write(`packgate: ${error.message}. ${error.hint}\n`);
    return error.exitCode;
  }
}

async function dispatch([name, ...rest]: readonly string[], io: Io): Promise<number> {
  switch (name) {
    case undefined:
      io.stderr.write(await helpOf([]));
      return EXIT.usage;
    case '--version':
      io.stdout.write(`${VERSION}\n`);
      return EXIT.ok;
    case 'help':
    case '--help':
    case '-h':
      io.stdout.write(await helpOf(rest));
      return EXIT.ok;
    default:
      return runCommand(await commandNamed(name), rest, io);
  }
}

async function runCommand(command: Command, argv: readonly string[], io: Io): Promise<number> {
  // Help is given whatever else is wrong with the line: that is when it is needed.
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  if (own.includes('--help') || own.includes('-h')) {
    io.stdout.write(commandHelp(command));
    return EXIT.ok;
  }
  const known = { ...command.options, ...COMMON_OPTIONS };
  const { options, given, rest } = parseLine(argv, known, command.arguments, command.rest !== undefined);
  return command.run(options, io, given, rest);
}

async function helpOf([name]: readonly string[]): Promise<string> {
  if (name !== undefined) return commandHelp(await commandNamed(name));
  return programHelp(await Promise.all([...COMMANDS.values()].map((load) => load())));
}

async function commandNamed(name: string): Promise<Command> {
  const load = COMMANDS.get(name);
  if (load !== undefined) return load();
  const near = nearest(name, name.startsWith('-') ? ['--help', '--version'] : COMMANDS.keys());
  throw new UsageError(
    name.startsWith('-') ? `unknown option ${name}` : `unknown command "${name}"`,
    near === undefined ? 'Try "packgate help".' : `Did you mean ${near}?`,
  );
}
