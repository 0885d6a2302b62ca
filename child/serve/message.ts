import type { ErrorCode } from '../../shared/protocol/codes.ts';
import { PROTOCOL_VERSION } from '../../shared/protocol/limits.ts';
import type { Issue, Json } from '../../shared/protocol/messages.ts';
import type { PauseOptions } from './pause.ts';

/** What a dispatched message came to: for the record, and as the text of the answer. */
export interface Outcome {
  readonly outcome: 'ok' | ErrorCode;
  readonly text: string;
}

/** Who an error is about. */
export type Subject = { readonly toolId: string } | { readonly checkId: string };

export interface ErrorDetails {
  readonly cause?: Json;
  readonly issues?: readonly Issue[];
  /** The tool's own name for the connection whose token an app refused (D47). */
  readonly connection?: string;
}

/** An error message (D16). */
export function errorOutcome(
  code: ErrorCode,
  message: string,
  subject: Subject | undefined,
  details: ErrorDetails = {},
): Outcome {
  const { cause, issues, connection } = details;
  return {
    outcome: code,
    text: JSON.stringify({ v: PROTOCOL_VERSION, kind: 'error', code, message, ...subject, cause, issues, connection }),
  };
}

/** A result message around a value that is JSON text already (D14). */
export function resultOutcome(output: string): Outcome {
  return { outcome: 'ok', text: `{"v":${PROTOCOL_VERSION},"kind":"result","output":${output}}` };
}

/** A pause message: the call waits for another system (D42). Its call did well, as far as it went. */
export function pauseOutcome({ timeoutMs, name }: PauseOptions): Outcome {
  return { outcome: 'ok', text: JSON.stringify({ v: PROTOCOL_VERSION, kind: 'pause', timeoutMs, name }) };
}

/** A check-result message around a verdict that is JSON text already (D26). */
export function verdictOutcome(result: string): Outcome {
  return { outcome: 'ok', text: `{"v":${PROTOCOL_VERSION},"kind":"check-result","result":${result}}` };
}
