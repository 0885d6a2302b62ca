import type { Json, JsonObject } from '../../../shared/protocol/messages.ts';
import { durationText } from '../amounts.ts';
import type { Io } from '../command.ts';
import { isObject } from './input.ts';
import { hasPassed } from './outcome.ts';
import type { AnswerFacts, Outcome } from './outcome.ts';
import { paintFor } from '../paint.ts';
import type { Paint } from '../paint.ts';
import { jsonText, printable, printableLines } from '../printable.ts';

/** What is known of a call that was made, beside its answer. */
export interface CallMade {
  readonly id: string;
  /** Undefined where none was sent. */
  readonly requestId: string | undefined;
  /** Where whoever answers a pause posts the output to (D45); undefined where the call had no wait token. */
  readonly waitUrl: string | undefined;
}

/** More issues than these are counted, not shown. */
const MAX_ISSUES = 20;
const DEFAULT_PAUSE_MS = 86_400_000;

/** Says on stderr what became of a call. */
export function showOutcome(outcome: Outcome, call: CallMade, io: Io): void {
  io.stderr.write(`${linesOf(outcome, call, stderrPaint(io)).join('\n')}\n`);
}

/** The data in an answer on stdout, where it can be piped; nothing where there is none. */
export function showData(outcome: Outcome, io: Io): void {
  if (outcome.kind === 'result') io.stdout.write(jsonText(outcome.message.output));
  if (outcome.kind === 'check-result') io.stdout.write(jsonText(outcome.message.result));
}

/**
 * The answer as it came, byte for byte; on a terminal with what it would act on as JSON escapes, which is the same data.
 */
export function showRaw(body: Buffer, io: Io): void {
  if (!io.isTty.stdout) {
    io.stdout.write(body);
    if (body.at(-1) !== 0x0a) io.stdout.write('\n');
    return;
  }
  const text = body.toString().trimEnd();
  const safe = text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    // Outside of strings, where these are only white space; inside, JSON has them escaped.
    if (character === '\n' || character === '\t' || character === '\r') return character === '\n' ? '\n' : ' ';
    return jsonEscape(character);
  });
  io.stdout.write(`${safe}\n`);
}

function jsonEscape(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

function stderrPaint({ env, isTty }: Io): Paint {
  return paintFor({ env, isTty: { ...isTty, stdout: isTty.stderr } });
}

function linesOf(outcome: Outcome, call: CallMade, paint: Paint): string[] {
  const id = printable(call.id);
  const request = call.requestId === undefined ? [] : [paint.faint(`request ${call.requestId}`)];
  switch (outcome.kind) {
    case 'result':
      return [`${paint.good('result')} of ${id}${factsText(outcome, paint)}`];
    case 'check-result': {
      const { result } = outcome.message;
      const reason = isObject(result) && typeof result.reason === 'string' ? `: ${printable(result.reason)}` : '';
      const verdict = hasPassed(outcome.message) ? paint.good('passed') : paint.bad('failed');
      return [`${id} ${verdict}${reason}${factsText(outcome, paint)}`];
    }
    case 'error':
      return [
        `${paint.bad(`error ${textAt(outcome.message, 'code')}`)} of ${id}: ${textAt(outcome.message, 'message')}${factsText(outcome, paint)}`,
        ...errorLines(outcome.message, paint),
        ...request,
      ];
    case 'pause':
      return [...pauseLines(outcome.message, call, id, paint), ...request];
    case 'refused':
      return [`${paint.bad(`refused: ${statusText(outcome)}`)}${saying(outcome.text)}. It did not run.`, ...request];
    case 'not-now': {
      const after = /^\d{1,9}$/.test(outcome.retryAfter ?? '') ? ` after ${outcome.retryAfter} s` : '';
      const what = paint.busy(`not now: ${statusText(outcome)}`);
      return [`${what}${saying(outcome.text)}. It did not run; try again${after}.`, ...request];
    }
    case 'broken':
      return [`${paint.bad(`broken: ${statusText(outcome)}`)}${saying(outcome.text)}. It may have run.`, ...request];
    case 'lost':
      return [`${paint.bad('lost')}: ${printable(outcome.why)}. It may have run.`, ...request];
    case 'stranger':
      return [`packgate: what answers (status ${outcome.status}) is no gateway.`];
  }
}

function factsText({ facts }: { readonly facts: AnswerFacts }, paint: Paint): string {
  const { durationMs, artifactVersion } = facts;
  const parts = [
    ...(durationMs === undefined ? [] : [/^\d{1,9}$/.test(durationMs) ? durationText(Number(durationMs)) : durationMs]),
    ...(artifactVersion === undefined ? [] : [`version ${artifactVersion}`]),
  ];
  return parts.length === 0 ? '' : `  ${paint.faint(`(${printable(parts.join(', '))})`)}`;
}

function errorLines({ issues, cause, connection }: JsonObject, paint: Paint): string[] {
  const all = Array.isArray(issues) ? (issues as readonly Json[]).filter(isObject) : [];
  const lines = all.slice(0, MAX_ISSUES).map((issue) => {
    return `  ${textAt(issue, 'instancePath') || '(the whole)'}: ${textAt(issue, 'message')}`;
  });
  if (all.length > MAX_ISSUES) lines.push(`  and ${all.length - MAX_ISSUES} more`);
  if (typeof connection === 'string') lines.push(`  connection: ${printable(connection)}`);
  const stack = isObject(cause) ? (cause.stack ?? cause.message) : cause;
  if (typeof stack === 'string') lines.push(...printableLines(stack).map((line) => paint.faint(`  | ${line}`)));
  return lines;
}

/** What the call waits for, until when, and where the output goes to. */
function pauseLines({ name, timeoutMs }: JsonObject, { waitUrl }: CallMade, id: string, paint: Paint): string[] {
  const what = typeof name === 'string' ? ` for "${printable(name)}"` : '';
  const forMs = typeof timeoutMs === 'number' ? timeoutMs : DEFAULT_PAUSE_MS;
  const where =
    waitUrl === undefined
      ? 'The call had no wait token, so there is nowhere to post its output to.'
      : `Its output is what is posted as JSON to ${printable(waitUrl)}`;
  return [`${paint.busy('paused')}: ${id} waits${what}, ${durationText(forMs)} at most`, `  ${where}`];
}

function statusText({ status, code }: Outcome & { status: number; code: unknown }): string {
  return typeof code === 'string' ? `${status} ${printable(code)}` : String(status);
}

function saying(text: string): string {
  return text === '' ? '' : `, ${printable(text).replace(/\.$/, '')}`;
}

function textAt(message: JsonObject, key: string): string {
  const value = message[key];
  return typeof value === 'string' ? printable(value) : '';
}
