import { Refusal } from '../../shared/http/refusal.ts';
import { isForeign, peek } from './peek.ts';
import type { Peeked } from './peek.ts';

/** What the gateway saw of a call's context. `no-json`: it looks foreign, but the body is no JSON at all. */
export interface ContextCheck {
  readonly verdict: 'fine' | 'foreign' | 'no-json';
  readonly peeked: Peeked;
}

/** Up to this size a body is parsed in one go; parsing a longer one would hold up every other call. */
const PARSED_BYTES = 64 * 1024;

/** Whether a call's context names another tenant than `key` (B1, B5). What is no JSON is told so first (A2). */
export async function checkContext(body: Buffer, key: string): Promise<ContextCheck> {
  const peeked = await peek(body);
  if (!isForeign(peeked, key)) return { verdict: 'fine', peeked };
  return { verdict: body.length > PARSED_BYTES || isJson(body) ? 'foreign' : 'no-json', peeked };
}

/** @throws {Refusal} `pack-tenant-mismatch` */
export function refuseForeign(check: ContextCheck | undefined): void {
  if (check?.verdict === 'foreign') throw new Refusal('pack-tenant-mismatch');
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return true;
  } catch {
    return false;
  }
}
