import type { IncomingMessage, ServerResponse } from 'node:http';

import { announcesMoreThan, readBody } from '../../shared/http/body.ts';
import { Refusal } from '../../shared/http/refusal.ts';
import { HEADER, isJsonType } from '../../shared/protocol/headers.ts';
import { MAX_BODY_BYTES } from '../../shared/protocol/limits.ts';
import { tenantKey } from '../../shared/protocol/tenantId.ts';
import { parseTimeoutMs } from '../../shared/protocol/timeout.ts';
import type { Slot } from './admission.ts';
import { sendMessage, sendRefusal, sendTooLarge } from './answer.ts';
import { dispatch } from './dispatch.ts';
import { errorOutcome } from './message.ts';
import type { Outcome } from './message.ts';
import { parseRequest } from './request.ts';
import type { Service } from './server.ts';
import { readTraceparent } from './trace.ts';

/**
 * The story of one `POST /v1/invoke` after route, method, token and tenant header were checked: readiness and cap 503,
 * type 415, body 413, message, tenant of the context 421, then whatever running it gives (A2 steps 5 to 11).
 */
export async function answerCall(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const started = performance.now();
  const slot = service.admission.enter();
  if (slot instanceof Refusal) return sendRefusal(response, slot, refusalFields(service, slot));
  // Fires in every case: after the answer was handed over, or when the connection broke.
  response.once('close', () => slot.close());
  try {
    if (!isJsonType(request.headers['content-type'])) return sendRefusal(response, new Refusal('not-json'));

    if (announcesMoreThan(request, MAX_BODY_BYTES)) return await refuseBody(slot, request, response);
    const body = await readBody(request, MAX_BODY_BYTES);
    if (body.kind === 'cut') return;
    if (body.kind === 'too-large') return await refuseBody(slot, request, response);

    const message = parseRequest(body.bytes);
    let outcome: Outcome;
    if (message.kind === 'bad') {
      outcome = errorOutcome(message.code, message.message, undefined);
    } else if (message.kind === 'invoke' && isForeign(service, message.ctx.tenantId)) {
      return sendRefusal(response, tenantMismatch(service, 'context'));
    } else {
      outcome = await dispatch(service, message, {
        timeoutMs: parseTimeoutMs(request.headers[HEADER.timeoutMs] as string | undefined),
        trace: readTraceparent(request.headers[HEADER.traceparent] as string | undefined),
        onGone: (listener) => onGone(response, listener),
      });
    }
    const durationMs = Math.round(performance.now() - started);
    const { artifactVersion } = service.pack.index;
    if (outcome.outcome !== 'cancelled') sendMessage(response, outcome.text, { durationMs, artifactVersion });
  } finally {
    slot.leave();
  }
}

/** Whether a pinned service must not run a call for that tenant (B1, B2). An unpinned one runs any (A19). */
export function isForeign({ tenant }: Service, asked: string | undefined): boolean {
  return tenant !== undefined && (asked === undefined || tenantKey(asked) !== tenant.key);
}

/** Writes the record of a refused tenant, without naming any (B9), and gives the refusal, the same for every cause (B8). */
export function tenantMismatch({ events }: Service, via: 'header' | 'context'): Refusal {
  events.write('warn', 'tenant-mismatch', `Refused a call for another tenant, told by its ${via}`, { via });
  return new Refusal('pack-tenant-mismatch');
}

/** What a 503 lists besides its reason (A9). */
export function refusalFields({ admission }: Service, { code }: Refusal): object {
  return code === 'missing-env' ? { missingEnv: admission.missingEnv } : {};
}

function refuseBody(slot: Slot, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // What is left of the body is read and forgotten, which must not keep another call out.
  slot.leave();
  return sendTooLarge(request, response, new Refusal('body-too-large'));
}

/** Tells when the connection breaks before the answer was sent; a half-close counts (A40). */
function onGone(response: ServerResponse, listener: () => void): () => void {
  if (response.destroyed) {
    queueMicrotask(listener);
    return () => undefined;
  }
  response.once('close', listener);
  return () => response.off('close', listener);
}
