import type { Log } from '../../shared/log.ts';
import { describeThrown } from '../cause.ts';
import type { Callable, Found } from './callable.ts';
import { rejectedConnection } from './connections.ts';
import { createContext } from './context.ts';
import { openFiles } from './files.ts';
import { serialise } from './json.ts';
import { errorOutcome, pauseOutcome, resultOutcome } from './message.ts';
import type { Outcome } from './message.ts';
import { applyModel } from './model.ts';
import type { Pack, Tool } from './pack.ts';
import { isPauseNotAvailable, pauseOf, PauseNotAvailable, waitTokenOf } from './pause.ts';
import { brokenSchema, invalidInput, invalidOutput } from './validation.ts';

type Handler = Extract<Found, { ok: true }>;

/** A call of a handler; its input fits the schema. */
export interface HandlerCall {
  readonly input: unknown;
  /** The context as sent. */
  readonly ctx: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Parses the input with the tool's own model, calls the handler and judges what it returned (D9). Never rejects. */
export async function runHandler(
  pack: Pack,
  tool: Tool,
  handler: Handler,
  { input, ...call }: HandlerCall,
): Promise<Outcome> {
  try {
    const parsed = handler.model === undefined ? { value: input } : await applyModel(handler.model, input);
    if ('issues' in parsed) return invalidInput(tool.entry.id, parsed.issues);
    return await callHandler(pack, tool, handler.call, { ...call, input: parsed.value });
  } catch (thrown) {
    return thrownOutcome(pack, tool.entry.id, call.ctx, thrown);
  }
}

/** Calls the handler, waits for what it returns and judges that. Rejects with what the handler threw. */
async function callHandler(
  pack: Pack,
  tool: Tool,
  call: Callable,
  { input, ctx, signal, log }: HandlerCall,
): Promise<Outcome> {
  const open = openFiles(ctx, tool.entry, signal);
  try {
    const returned = await call(input, createContext(ctx, { signal, log, files: open.files }));
    const pause = pauseOf(returned);
    if (pause === undefined) return checkOutput(pack, tool, returned);
    // The output schema is for what is posted later, not for this answer (D42).
    if (waitTokenOf(ctx) === undefined) throw new PauseNotAvailable();
    return pauseOutcome(pause);
  } finally {
    open.close();
  }
}

/** What an error that the handler threw means for its caller. */
function thrownOutcome({ root }: Pack, toolId: string, ctx: HandlerCall['ctx'], thrown: unknown): Outcome {
  const subject = { toolId };
  if (isPauseNotAvailable(thrown)) {
    return errorOutcome('pause-not-available', `Tool "${toolId}" cannot pause: ${thrown.message}`, subject);
  }
  const connection = rejectedConnection(ctx, thrown);
  if (connection !== undefined) {
    // Nothing of the error itself: it may hold the token (D48).
    const message = `Tool "${toolId}" was refused by an app: connection "${connection}" needs a new token`;
    return errorOutcome('connection-rejected', message, subject, { connection });
  }
  const { text, cause } = describeThrown(thrown, root);
  return errorOutcome('handler-throw', `The handler of tool "${toolId}" threw: ${text}`, subject, { cause });
}

function checkOutput({ root }: Pack, { entry, output }: Tool, returned: unknown): Outcome {
  if (!output.ok) return brokenSchema('output', entry.id, output.error, root);
  const json = serialise(returned);
  if (!json.ok) {
    const message = `The output of tool "${entry.id}" cannot be sent as JSON: ${json.why}`;
    return errorOutcome('output-validation-failed', message, { toolId: entry.id });
  }
  const issues = output.check(json.value);
  return issues.length === 0 ? resultOutcome(json.text) : invalidOutput(entry.id, issues);
}
