import { runCheck } from './check.ts';
import { CallRecord } from './callRecord.ts';
import type { Events } from './events.ts';
import { runTool } from './invoke.ts';
import { runLimited } from './limits.ts';
import type { CallLimits } from './limits.ts';
import { errorOutcome } from './message.ts';
import type { Outcome } from './message.ts';
import type { Pack } from './pack.ts';
import type { ParsedRequest } from './request.ts';
import type { TraceIds } from './trace.ts';

/** Runs a message within its limits and writes its record. The deadline's clock starts here (A34). */
export async function dispatch(
  { pack, events }: { pack: Pack; events: Events },
  message: ParsedRequest,
  { trace, ...limits }: CallLimits & { trace: TraceIds | undefined },
): Promise<Outcome> {
  const started = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - started);
  const record = new CallRecord(events, pack, message, trace);
  const id = message.kind === 'invoke' ? message.tool.id : message.checkId;
  const subject = message.kind === 'invoke' ? { toolId: id } : { checkId: id };

  const outcome = await runLimited(limits, {
    work: (signal) =>
      message.kind === 'invoke'
        ? runTool(pack, message, { signal, log: record.toolLog() })
        : runCheck(pack, message, { signal }),
    onDeadline: () =>
      errorOutcome('deadline-exceeded', `"${id}" did not answer within its ${limits.timeoutMs} ms`, subject),
    onCancelled: () => errorOutcome('cancelled', `the caller of "${id}" closed the connection`, subject),
    onLate: () => record.finishedLate(elapsedMs()),
  });
  record.ended(outcome, elapsedMs());
  return outcome;
}
