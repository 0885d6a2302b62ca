import { COMMON_OPTIONS } from './command.ts';
import type { Argument, Command, Option, Rest } from './command.ts';

/** What `packgate <command> --help` prints. */
export function commandHelp(command: Command): string {
  const options = Object.entries<Option>({ ...command.options, ...COMMON_OPTIONS });
  return [
    `${command.name}: ${command.summary}`,
    '',
    `Usage: ${command.usage}`,
    '',
    ...argumentLines(command.arguments ?? [], command.rest),
    'Options:',
    ...columns(options.map(([name, option]) => [optionText(name, option), option.help])),
    '',
    'Examples:',
    ...columns(command.examples.map(({ line, does }) => [line, does])),
    '',
    ...exitCodeLines(command.exitCodes ?? []),
  ].join('\n');
}

/** What `packgate help` prints. */
export function programHelp(commands: readonly Command[]): string {
  return [
    "packgate: hosts many tenants' Kindgi packs on one machine behind one address",
    '',
    'Usage: packgate <command> [options]',
    '',
    'Commands:',
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    '',
    'Options:',
    ...columns([
      ['-h, --help', 'show this help; after a command, that of the command'],
      ['--version', 'print the version'],
    ]),
    '',
    'Exit codes: 0 done, 1 failed, 2 wrong usage, 69 no gateway answers, 78 bad configuration.',
    '',
  ].join('\n');
}

function argumentLines(expected: readonly Argument[], rest: Rest | undefined): string[] {
  const rows = expected.map(({ name, isRequired, help }) => [isRequired ? `<${name}>` : `[${name}]`, help] as const);
  const all = rest === undefined ? rows : [...rows, [`[${rest.name}…]`, rest.help] as const];
  return all.length === 0 ? [] : ['Arguments:', ...columns(all), ''];
}

function exitCodeLines(codes: readonly (readonly [code: number, meaning: string])[]): string[] {
  if (codes.length === 0) return [];
  return ['Exit codes:', ...columns(codes.map(([code, meaning]) => [String(code), meaning])), ''];
}

function optionText(name: string, { short, value }: Option): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
