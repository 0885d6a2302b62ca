import { randomBytes } from 'node:crypto';

/** A call's place in a trace: the caller's trace id and a span id of its own. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** The ids of a `traceparent` (W3C); undefined when it is absent or does not parse, never a reason to refuse (A20). */
export function readTraceparent(header: string | undefined): TraceIds | undefined {
  const match = TRACEPARENT.exec(header ?? '');
  if (match === null) return undefined;
  const [, version = '', traceId = '', parentId = '', more] = match;
  // Version 00 has exactly four parts; later ones may have more. All-zero ids and version ff are invalid.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  return { traceId, spanId: randomBytes(8).toString('hex') };
}
