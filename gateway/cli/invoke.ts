import { EXIT } from '../../shared/process/contract.ts';
import { UsageError } from './command.ts';
import type { Arguments, Command, Io, Values } from './command.ts';
import { readWritten } from './invoke/config.ts';
import type { WrittenGateway } from './invoke/config.ts';
import { CALL_OPTIONS, readCalled, readForeign, readTimeoutMs, readWaitMs } from './invoke/given.ts';
import { INVOKE_EXIT_TEXTS } from './invoke/exitCodes.ts';
import { completions, COMPLETION_MS, askInfo, infoIn, infoText } from './invoke/info.ts';
import type { Caller } from './invoke/info.ts';
import { makeCall } from './invoke/message.ts';
import { exitCodeOf, outcomeOf } from './invoke/outcome.ts';
import { placeOfCall, readToken, tenantOfCall } from './invoke/place.ts';
import type { Exchange } from './invoke/request.ts';
import { callOnce } from './invoke/call.ts';
import type { PreparedCall } from './invoke/call.ts';
import { openStandIns } from './invoke/standIns.ts';
import { sampleFor } from './invoke/sampleFor.ts';
import { showOutcome, showRaw } from './invoke/show.ts';
import { interruption, reach, unreachable } from './invoke/reach.ts';
import { jsonText, printable } from './printable.ts';

const INFO_MS = 120_000;

type Given = Values<typeof CALL_OPTIONS>;

/** `packgate invoke`: calls a tool or a check as a runtime does, once. */
export const invoke: Command<typeof CALL_OPTIONS> = {
  name: 'invoke',
  summary: 'Call a tool, or a guardrail check, through a gateway',
  usage: 'packgate invoke <tool> [json|@file|-] [options]',
  arguments: [
    { name: 'tool', isRequired: false, help: "the tool's id (with --check none: the trace stands in its place)" },
    { name: 'input', isRequired: false, help: 'its input: JSON, @file, or - for standard input (default: {})' },
  ],
  options: CALL_OPTIONS,
  examples: [
    {
      line: `packgate invoke acme.echo '{"message":"hi"}'`,
      does: 'call a tool of the only tenant of packgate.yaml here',
    },
    { line: 'packgate invoke acme.echo --sample', does: 'the same with an input made from its schema' },
    { line: `packgate invoke --check acme.polite '{"output":"HEY"}'`, does: 'run a check on a trace' },
    { line: 'packgate invoke acme.echo {} --as-tenant someone-else', does: 'see the 421; nothing runs' },
    { line: 'packgate invoke --list', does: "what the tenant's pack has" },
  ],
  exitCodes: INVOKE_EXIT_TEXTS,
  async run(given, io, names) {
    if (given.complete === true) return complete(given, io, names);
    const waitMs = readWaitMs(given);
    const config = await readConfig(given, io);
    if (given.list === true) return list(await callerOf(given, config, io), waitMs, given.json ?? false, io);
    return call(given, names, config, waitMs, io);
  },
};

async function call(
  given: Given,
  names: Arguments,
  config: WrittenGateway | undefined,
  waitMs: number,
  io: Io,
): Promise<number> {
  const [timeoutMs, foreign] = [readTimeoutMs(given), readForeign(given)];
  let called = await readCalled(given, names, io);
  const isDry = given['dry-run'] === true;
  if (isDry && given.sample !== true) throw new UsageError('--dry-run is for --sample', 'Give both.');
  const caller = (): Promise<Caller> => callerOf(given, config, io);
  if (given.sample === true && called.kind === 'tool') {
    const { index, tenant } = given;
    const { value, doubts } = await sampleFor(called, { index, tenant, config, caller, waitMs }, io);
    for (const doubt of doubts) io.stderr.write(`packgate: the sample may not fit: ${printable(doubt)}\n`);
    if (isDry) {
      io.stdout.write(jsonText(value));
      return EXIT.ok;
    }
    io.stderr.write(`input: ${jsonText(value)}`);
    called = { ...called, input: { text: JSON.stringify(value), value } };
  }
  const from = await caller();
  const prepare = async (signal: AbortSignal): Promise<PreparedCall> => {
    const standIns = await openStandIns(given, { caller: from, called, timeoutMs, waitMs, signal }, io);
    const { token, tenant } = from;
    const whole = standIns?.called ?? called;
    return { called: whole, call: makeCall({ called: whole, token, tenant, foreign, timeoutMs }), standIns };
  };
  return callOnce({ caller: from, called, prepare, config, waitMs, isJson: given.json ?? false }, io);
}

async function list(caller: Caller, waitMs: number, isJson: boolean, io: Io): Promise<number> {
  const { signal, exitCode } = interruption(io);
  const answer = await reach(() => askInfo(caller, INFO_MS, signal), waitMs);
  if (answer.kind === 'interrupted') return exitCode();
  if (answer.kind === 'unreachable') throw unreachable(caller.place, answer);
  const info = infoIn(answer);
  if (info !== undefined && answer.kind === 'answer') {
    if (isJson) showRaw(answer.body, io);
    else io.stdout.write(infoText(info));
    return EXIT.ok;
  }
  return failedList(answer, io);
}

/** Says why there is no list. */
function failedList(answer: Exchange & { kind: 'answer' | 'lost' }, io: Io): number {
  const outcome = answer.kind === 'answer' ? outcomeOf(answer) : answer;
  showOutcome(outcome, { id: '/v1/info', requestId: undefined, waitUrl: undefined }, io);
  return exitCodeOf(outcome);
}

/** For a shell: matching ids or nothing, and never a word about what is wrong. */
async function complete(given: Given, io: Io, { tool = '' }: Arguments): Promise<number> {
  try {
    const caller = await callerOf(given, await readConfig(given, io), io);
    const info = infoIn(await askInfo(caller, COMPLETION_MS));
    if (info === undefined) return EXIT.failed;
    const ids = completions(info, tool);
    io.stdout.write(ids.map((id) => `${id}\n`).join(''));
    return EXIT.ok;
  } catch {
    return EXIT.failed;
  }
}

/** Not read where nothing of it is needed: what lies in the folder by chance must not keep anybody from calling. */
async function readConfig(given: Given, io: Io): Promise<WrittenGateway | undefined> {
  const isNeeded = given.config !== undefined || given.url === undefined || given.tenant === undefined;
  return isNeeded ? readWritten(given.config, io) : undefined;
}

async function callerOf(given: Given, config: WrittenGateway | undefined, io: Io): Promise<Caller> {
  const place = placeOfCall(given, config, io);
  return { place, tenant: tenantOfCall(given.tenant, config), token: await readToken(given, io) };
}
