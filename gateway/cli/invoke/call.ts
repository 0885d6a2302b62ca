import type { Io } from '../command.ts';
import type { WrittenGateway } from './config.ts';
import { INVOKE_EXIT } from './exitCodes.ts';
import { askInfo, infoIn, meantBy } from './info.ts';
import type { Caller } from './info.ts';
import { isObject } from './input.ts';
import type { Call, Called } from './message.ts';
import { exitCodeOf, outcomeOf } from './outcome.ts';
import type { Outcome } from './outcome.ts';
import { tenantHint } from './place.ts';
import { interruption, reach, unreachable } from './reach.ts';
import { exchange } from './request.ts';
import { showData, showOutcome, showRaw } from './show.ts';
import type { CallMade } from './show.ts';
import type { Ended, StandIns } from './standIns.ts';

/** How long after its deadline a call is given up: the gateway has answered long before, if there is one. */
const GRACE_MS = 10_000;
/** What looking up a better name may take. */
const HINT_MS = 3_000;

export interface CallToMake {
  readonly caller: Caller;
  readonly called: Called;
  /** Asked again when nothing could be sent yet: what stands in for a runtime may have come up meanwhile. */
  readonly prepare: (signal: AbortSignal) => Promise<PreparedCall>;
  readonly config: WrittenGateway | undefined;
  /** How long to wait for a listener. */
  readonly waitMs: number;
  readonly isJson: boolean;
}

/** A call, ready to be sent. */
export interface PreparedCall {
  /** With everything that is in its context. */
  readonly called: Called;
  readonly call: Call;
  /** Undefined: it has none. */
  readonly standIns: StandIns | undefined;
}

/**
 * Sends the call, once, shows what became of it and returns the exit code.
 * @throws {CommandError} when nothing could be sent.
 */
export async function callOnce(toMake: CallToMake, io: Io): Promise<number> {
  const { caller, prepare, waitMs, isJson } = toMake;
  const { signal, exitCode } = interruption(io);
  let prepared = await prepare(signal);
  let isFirst = true;
  const answer = await reach(async () => {
    if (!isFirst && prepared.standIns === undefined) prepared = await prepare(signal);
    isFirst = false;
    const { headers, body, timeoutMs } = prepared.call;
    const withinMs = timeoutMs + GRACE_MS;
    return exchange(caller.place, { method: 'POST', path: '/v1/invoke', headers, body, withinMs, signal });
  }, waitMs);
  const {
    called,
    call: { requestId },
    standIns,
  } = prepared;
  const outcome = answer.kind === 'answer' ? outcomeOf(answer) : answer;
  const ended = await standIns?.end(outcome.kind === 'pause' ? outcome.message : undefined);
  if (outcome.kind === 'unreachable') throw unreachable(caller.place, outcome);
  if (outcome.kind === 'interrupted') {
    io.stderr.write(`cancelled: the connection is closed.\nrequest ${requestId}\n`);
    return exitCode();
  }
  const code = exitCodeOf(outcome);
  const made: CallMade = { id: called.id, requestId, waitUrl: waitUrlOf(called) };
  // As data, a good answer speaks for itself.
  if (!isJson || code !== 0) showOutcome(outcome, made, io);
  if (isJson && answer.kind === 'answer') showRaw(answer.body, io);
  if (!isJson) showData(outcome, io);
  const hint = await hintFor(outcome, toMake);
  if (hint !== undefined) io.stderr.write(`${hint}\n`);
  if (ended !== undefined && (!isJson || code !== 0 || ended.hasFailed)) showEnded(ended, io);
  // Whoever asks for files and reads 0 takes them for saved.
  return code === 0 && ended?.hasFailed === true ? INVOKE_EXIT.failed : code;
}

/** What may help with a name that is not there. Asks for what there is, and never calls again. */
async function hintFor(outcome: Outcome, { caller, called, config }: CallToMake): Promise<string | undefined> {
  if (outcome.kind === 'refused' && outcome.status === 421) return tenantHint(caller.tenant, config);
  if (outcome.kind !== 'error' || outcome.message.code !== `${called.kind}-not-in-pack`) return undefined;
  const info = infoIn(await askInfo(caller, HINT_MS));
  return info === undefined ? undefined : meantBy(called.id, called.kind, info);
}

function showEnded({ lines }: Ended, { stderr }: Io): void {
  for (const line of lines) stderr.write(`${line}\n`);
}

function waitUrlOf(called: Called): string | undefined {
  const token = called.kind === 'tool' ? called.context.waitToken : undefined;
  return isObject(token) && typeof token.url === 'string' ? token.url : undefined;
}
