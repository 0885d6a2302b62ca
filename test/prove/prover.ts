import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { AtEnd } from '../support/atEnd.ts';

/** One thing that does not hold, in a sentence that can be looked into. */
export type Finding = string;

/** An option of a prover; `--name VALUE`. Numbers are whole and not negative. */
export interface ProverOption {
  readonly default: number | string;
  /** What it sets, in a few words, for `--help`. */
  readonly sets: string;
}

export type ProverOptions = Readonly<Record<string, ProverOption>>;

/** The options as a run gets them. */
export type OptionValues<Options extends ProverOptions> = {
  readonly [Name in keyof Options]: Options[Name]['default'] extends number ? number : string;
};

/** What a run is given to speak, to be interrupted, and to leave nothing behind. */
export interface Stage {
  /** A figure, on stdout. */
  readonly print: (line: string) => void;
  /** Where it has got to, on stderr. */
  readonly progress: (line: string) => void;
  /** To be undone at the end, however it comes, in reverse order. Pass it to everything in `test/support` that takes one. */
  readonly atEnd: AtEnd;
  /** Aborted when the run is to stop early. What is under way may be left as it is: `atEnd` clears up. */
  readonly signal: AbortSignal;
}

/** A promise of the project with figures behind it: `npm run prove:<name>`. */
export interface Prover<Options extends ProverOptions = ProverOptions> {
  /** What is promised, in one sentence. */
  readonly promise: string;
  readonly options: Options;
  /** Returns what it found that should not be; nothing: the promise holds. */
  readonly run: (values: OptionValues<Options>, stage: Stage) => Promise<readonly Finding[]>;
}

/** Only so that the options' types are inferred. Each file `test/prove/<name>.ts` exports one, called `prover`. */
export function defineProver<const Options extends ProverOptions>(prover: Prover<Options>): Prover<Options> {
  return prover;
}

/** What stands around a program: its arguments and its outputs. */
export interface Surroundings {
  readonly args: readonly string[];
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Aborted by Ctrl+C. */
  readonly interrupt: AbortSignal;
}

/** Exit codes, as those of every command of the project. */
export const EXIT = { holds: 0, finding: 1, usage: 2, interrupted: 130 } as const;

/** How long an interrupted run may take to notice. */
const LAST_STEPS_MS = 2_000;

/** Runs a prover as a program. Resolves with the exit code, when everything it started is gone. */
export async function runProver<Options extends ProverOptions>(
  name: string,
  prover: Prover<Options>,
  surroundings: Surroundings,
): Promise<number> {
  const { args, stdout, stderr, interrupt } = surroundings;
  const values = readArguments(prover.options, args);
  if (values === 'help') {
    stdout(helpText(name, prover));
    return EXIT.holds;
  }
  if (typeof values === 'string') {
    stderr(`prove:${name}: ${values}\n\n${helpText(name, prover)}`);
    return EXIT.usage;
  }
  const from = performance.now();
  const settings = Object.entries(values).map(([option, value]) => `--${option} ${value}`);
  stdout(`prove:${name} ${settings.join(' ')}\n`);
  const findings = await perform(prover, values, {
    print: (line) => stdout(`${line}\n`),
    progress: (line) => stderr(`prove:${name}: ${line}\n`),
    signal: interrupt,
  });
  if (interrupt.aborted) {
    stderr(`prove:${name}: interrupted\n`);
    return EXIT.interrupted;
  }
  for (const finding of findings) stdout(`FINDING: ${finding}\n`);
  const seconds = ((performance.now() - from) / 1000).toFixed(1);
  stdout(`prove:${name}: ${findings.length === 0 ? 'holds' : `${findings.length} findings`} (${seconds} s)\n`);
  return findings.length === 0 ? EXIT.holds : EXIT.finding;
}

/**
 * One run of a prover: with its defaults where nothing else is given, as a test does it in quick form. Everything is
 * undone when it settles. What a run throws is a finding, too: a promise that could not be looked into was not kept.
 */
export async function perform<Options extends ProverOptions>(
  prover: Prover<Options>,
  values: Partial<OptionValues<Options>>,
  { print = ignore, progress = ignore, signal = new AbortController().signal }: Partial<Omit<Stage, 'atEnd'>> = {},
): Promise<readonly Finding[]> {
  const undos: (() => void | Promise<void>)[] = [];
  const stage: Stage = { print, progress, signal, atEnd: (undo) => void undos.push(undo) };
  const interrupted = new Promise<Finding[]>((resolve) => {
    if (signal.aborted) resolve([]);
    else signal.addEventListener('abort', () => resolve([]), { once: true });
  });
  const findings: Finding[] = [];
  const clearUp = async (): Promise<void> => {
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
      try {
        await undo();
      } catch (error) {
        findings.push(`it could not clear up: ${textOf(error)}`);
      }
    }
  };
  const run = prover.run({ ...defaultsOf(prover.options), ...values }, stage);
  try {
    findings.push(...(await Promise.race([run, interrupted])));
  } catch (error) {
    findings.push(`it broke off: ${textOf(error)}`);
  }
  await clearUp();
  if (signal.aborted) {
    // What it was waiting for has been taken from it; what it started before it noticed is undone, too.
    await Promise.race([run.catch(ignore), pause(LAST_STEPS_MS)]);
    await clearUp();
  }
  return findings;
}

/** Part of a run, a round for example, that clears up after itself, and at the latest at the end of the run. */
export async function inScope<T>(stage: Stage, part: (atEnd: AtEnd) => Promise<T>): Promise<T> {
  const undos: (() => void | Promise<void>)[] = [];
  const clearUp = async (): Promise<void> => {
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) await undo();
  };
  stage.atEnd(clearUp);
  try {
    return await part((undo) => void undos.push(undo));
  } finally {
    await clearUp();
  }
}

/** The values, 'help', or what is wrong with the arguments. */
function readArguments<Options extends ProverOptions>(
  options: Options,
  args: readonly string[],
): OptionValues<Options> | string {
  const known = Object.keys(options).map((name) => [name, { type: 'string' }] as const);
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { ...Object.fromEntries(known), help: { type: 'boolean', short: 'h' } },
      strict: true,
    });
    if (values.help === true) return 'help';
    const given: Record<string, number | string> = { ...defaultsOf(options) };
    for (const [name, text] of Object.entries(values as Record<string, string>)) {
      if (typeof options[name]?.default === 'string') given[name] = text;
      else if (/^\d{1,15}$/.test(text)) given[name] = Number(text);
      else return `Expected \`--${name}\` to be a whole number, got \`${text}\``;
    }
    return given as OptionValues<Options>;
  } catch (error) {
    return (error as Error).message;
  }
}

function defaultsOf<Options extends ProverOptions>(options: Options): OptionValues<Options> {
  const entries = Object.entries(options).map(([name, option]) => [name, option.default]);
  return Object.fromEntries(entries) as OptionValues<Options>;
}

function helpText(name: string, { promise, options }: Pick<Prover, 'promise' | 'options'>): string {
  const rows = Object.entries(options).map(
    ([option, { default: value, sets }]) => `  --${option.padEnd(12)} ${sets} (default ${value})`,
  );
  return [
    promise,
    '',
    `usage: npm run prove:${name} -- [options]`,
    ...rows,
    `  --${'help'.padEnd(12)} this text`,
    '',
    'Figures on stdout, progress on stderr. Exit 0: it holds; 1: a finding; 2: wrong usage.',
    '',
  ].join('\n');
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function ignore(): void {}
