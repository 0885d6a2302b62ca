import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CLAUSES } from '../../shared/conform/clauses.ts';
import { EXIT } from '../../shared/process/contract.ts';
import { CommandError, UsageError } from './command.ts';
import type { Command, Io, Values } from './command.ts';
import { interruptOf } from './conform/interrupt.ts';
import { judgeAll, lookAtRunning } from './conform/judge.ts';
import type { Judged, JudgeOptions } from './conform/judge.ts';
import { jsonReport } from './conform/jsonReport.ts';
import { junitReport } from './conform/junitReport.ts';
import { judgeCommand } from './conform/launched.ts';
import { clauseList } from './conform/list.ts';
import { CONFORM_OPTIONS, jobsOf, languageOf, limitMsOf, tokenOf } from './conform/options.ts';
import { readPackOf } from './conform/prepare.ts';
import { progressOn } from './conform/progress.ts';
import { findRunning } from './conform/running.ts';
import { selectClauses } from './conform/select.ts';
import { tableReport } from './conform/tableReport.ts';
import { tapReport } from './conform/tapReport.ts';
import { verdictsOf } from './conform/verdicts.ts';
import type { Verdicts } from './conform/verdicts.ts';
import { paintFor } from './paint.ts';

/** Longest time for one clause: more than the slowest takes on a busy machine. */
const CLAUSE_LIMIT_MS = 90_000;

type ConformValues = Values<typeof CONFORM_OPTIONS>;
type Clauses = typeof CLAUSES;

/** `packgate conform`: does a pack service keep the protocol? */
export const conform: Command<typeof CONFORM_OPTIONS> = {
  name: 'conform',
  summary: 'Check a pack service in any language against the protocol, clause by clause',
  usage: 'packgate conform [options] -- <command…>, or packgate conform --url <url> --token-env <name> [options]',
  options: CONFORM_OPTIONS,
  rest: { name: 'command', help: 'what starts the service; the arguments of the process contract are appended' },
  examples: [
    {
      line: 'packgate conform -- packgate-child serve',
      does: 'start it as often as needed, with a pack in JavaScript',
    },
    { line: 'packgate conform -- python3 -m kindgi.pack serve', does: 'the same with a pack in Python' },
    { line: 'packgate conform --pack pack --index pack/index.json -- ./service', does: 'with a pack of its own' },
    { line: 'packgate conform --only B,C29 --junit out.xml -- ./service', does: 'a part of it, for a CI' },
    {
      line: 'packgate conform --url http://127.0.0.1:8080 --token-env TOKEN --tenant acme',
      does: 'what can be seen of a service that runs',
    },
  ],
  async run(options, io, _given, command) {
    const clauses = selectClauses(CLAUSES, options.only);
    if (options.list === true) {
      io.stdout.write(clauseList(clauses, options.json ?? false));
      return EXIT.ok;
    }
    const isRunning = options.url !== undefined;
    if (isRunning === command.length > 0) {
      const what = isRunning ? '--url and a command do not go together' : 'there is nothing to check';
      throw new UsageError(what, 'Give a command after "--", or --url with --token-env.');
    }
    const sinceMs = performance.now();
    const interrupt = interruptOf(io, limitMsOf(options));
    const progress = progressOn(io);
    const judging: JudgeOptions = {
      jobs: jobsOf(options),
      limitMs: CLAUSE_LIMIT_MS,
      signal: interrupt.signal,
      onJudged: (done) => progress.show(`${done} of ${clauses.length} checks`),
    };
    let judged: readonly Judged[];
    try {
      judged = isRunning
        ? await judgeRunning(clauses, judging, options, io)
        : await judgeStarted(clauses, judging, options, io, command);
    } finally {
      progress.end();
      interrupt.clear();
    }
    const name = options.url ?? command.join(' ');
    const verdicts = verdictsOf(name, judged, Math.round(performance.now() - sinceMs));
    io.stdout.write(reportOf(verdicts, options, io));
    if (options.junit !== undefined) writeJunit(resolve(io.cwd, options.junit), verdicts);
    if (!interrupt.signal.aborted) return verdicts.findings > 0 ? EXIT.failed : EXIT.ok;
    io.stderr.write(`packgate: not all was looked at: ${String(interrupt.signal.reason)}.\n`);
    return EXIT.failed;
  },
};

function judgeStarted(
  clauses: Clauses,
  judging: JudgeOptions,
  options: ConformValues,
  { cwd, env, stderr }: Io,
  command: readonly string[],
): Promise<readonly Judged[]> {
  for (const name of ['token-env', 'tenant'] as const) {
    if (options[name] !== undefined) {
      throw new UsageError(`--${name} is for a service that runs`, 'One that is started here is given both.');
    }
  }
  const { pack, index } = options;
  const choice = {
    packDir: pack === undefined ? undefined : resolve(cwd, pack),
    indexPath: index === undefined ? undefined : resolve(cwd, index),
    language: languageOf(options),
    command,
  };
  const warn = (text: string): void => void stderr.write(`packgate: ${text}\n`);
  return judgeCommand(clauses, { ...judging, choice, cwd, path: env.PATH, warn });
}

async function judgeRunning(
  clauses: Clauses,
  judging: JudgeOptions,
  options: ConformValues,
  { cwd, env }: Io,
): Promise<readonly Judged[]> {
  const { url = '', tenant, pack, index } = options;
  const packDir = pack === undefined ? undefined : resolve(cwd, pack);
  const service = await findRunning({
    url,
    token: tokenOf(options, env),
    tenantId: tenant,
    expectedInfo: index === undefined ? undefined : readPackOf(packDir ?? cwd, resolve(cwd, index)).expectedInfo,
    packDir,
  });
  return judgeAll(clauses, lookAtRunning(service), judging);
}

function reportOf(verdicts: Verdicts, { json, tap }: ConformValues, io: Io): string {
  if (json === true) return jsonReport(verdicts);
  return tap === true ? tapReport(verdicts) : tableReport(verdicts, paintFor(io));
}

function writeJunit(file: string, verdicts: Verdicts): void {
  try {
    writeFileSync(file, junitReport(verdicts));
  } catch (error) {
    const hint = 'Name a file in a folder that is there.';
    throw new CommandError(EXIT.failed, `${file} cannot be written: ${(error as Error).message}`, hint);
  }
}
