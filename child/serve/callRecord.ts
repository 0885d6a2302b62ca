import type { Fields, Log } from '../../shared/log.ts';
import type { Events } from './events.ts';
import type { Outcome } from './message.ts';
import type { Pack } from './pack.ts';
import type { ParsedRequest } from './request.ts';
import type { TraceIds } from './trace.ts';

/** What is written about one dispatched message (C20, C22), always with the ids of its call. */
export class CallRecord {
  readonly #events: Events;
  readonly #target: 'tool' | 'check';
  readonly #id: string;
  readonly #ids: Fields;

  constructor(events: Events, { index }: Pack, message: ParsedRequest, trace: TraceIds | undefined) {
    this.#events = events;
    this.#target = message.kind === 'invoke' ? 'tool' : 'check';
    this.#id = message.kind === 'invoke' ? message.tool.id : message.checkId;
    this.#ids = {
      ...trace,
      ...(message.kind === 'invoke' ? idsOf(message.ctx) : {}),
      ...(message.kind === 'invoke' ? { toolId: this.#id } : { checkId: this.#id }),
      packId: index.packId,
      artifactVersion: index.artifactVersion,
      target: this.#target,
    };
  }

  /** The handler's `ctx.log` (D32). */
  toolLog(): Log {
    return this.#events.toolLog(this.#ids);
  }

  ended({ outcome }: Outcome, durationMs: number): void {
    const level = outcome === 'ok' ? 'info' : 'warn';
    this.#events.write(level, 'call', `${this.#target} ${this.#id} ${outcome} ${durationMs}ms`, {
      ...this.#ids,
      id: this.#id,
      outcome,
      durationMs,
      inMessage: ['target', 'id', 'outcome', 'durationMs'],
    });
  }

  finishedLate(afterMs: number): void {
    const message = `${this.#target} ${this.#id} came to its end ${afterMs} ms after its start, its call had ended before`;
    this.#events.write('warn', 'handler-finished-late', message, { ...this.#ids, afterMs });
  }
}

/** The ids of a call's context, those that are there. */
function idsOf(ctx: Readonly<Record<string, unknown>>): Fields {
  const ids: Record<string, string> = {};
  for (const name of ['requestId', 'tenantId', 'runId', 'projectId', 'orgId']) {
    const value = ctx[name];
    if (typeof value === 'string' && value !== '') ids[name] = value;
  }
  return ids;
}
