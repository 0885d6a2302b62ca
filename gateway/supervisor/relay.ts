import type { Logger } from 'pino';
import type { StderrLine } from '../../shared/process/records.ts';
import { MAX_LINE_BYTES } from './lines.ts';

/** Characters that are shown of a line; whatever was cut while it was read is longer than that. */
const MAX_SHOWN = 16 * 1024;

/** Where a line comes from. */
export interface LineOrigin {
  readonly instance: string;
  /** How many bytes of it are missing because it was too long. */
  readonly cutBytes: number;
  /** The gateway is asking the service its questions before the first call. */
  readonly isProving: boolean;
}

/** Shows what a pack prints, under keys of its own: none of it can pose as the gateway's. */
export function relay(log: Logger, line: StderrLine, { instance, cutBytes, isProving }: LineOrigin): void {
  if (line.type === 'output') {
    log.info({ event: 'output', instance, ...shown(line.text, cutBytes) }, 'pack output');
    return;
  }
  // The proof asks as another tenant, and the service says so: no news, unless somebody looks for it.
  const isProof = isProving && line.type === 'event' && line.event === 'tenant-mismatch';
  const level = isProof ? 'debug' : levelOf(line.fields.level);
  log[level]({ event: 'pack-record', instance, record: line.fields }, 'pack record');
}

/** The text, or its beginning with a mark and the line's true length. */
function shown(text: string, cutBytes: number): { readonly output: string; readonly lineBytes?: number } {
  if (text.length <= MAX_SHOWN) return { output: text };
  const lineBytes = cutBytes > 0 ? MAX_LINE_BYTES + cutBytes : Buffer.byteLength(text);
  return { output: `${text.slice(0, MAX_SHOWN)}…`, lineBytes };
}

/** The level a record asks to be shown at. */
function levelOf(level: unknown): 'error' | 'warn' | 'info' | 'debug' {
  if (level === 'error' || level === 'warn' || level === 'debug') return level;
  return level === 'trace' ? 'debug' : 'info';
}
