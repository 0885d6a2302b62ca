import { setTimeout as delay } from 'node:timers/promises';
import { EXIT } from '../../../shared/process/contract.ts';
import { CommandError } from '../command.ts';
import type { Io } from '../command.ts';
import { INVOKE_EXIT } from './exitCodes.ts';
import type { CallPlace } from './place.ts';
import type { Exchange } from './request.ts';
import { printable } from '../printable.ts';

const POLL_MS = 100;
/** Nothing listens there yet. Other reasons do not go away by waiting. */
const NOT_YET: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT']);

/** Asks, again only while nothing listens: then nothing has been sent. At most `waitMs` longer than once. */
export async function reach(ask: () => Promise<Exchange>, waitMs: number): Promise<Exchange> {
  const end = performance.now() + waitMs;
  for (;;) {
    const answer = await ask();
    const isTooEarly = answer.kind === 'unreachable' && NOT_YET.has(answer.code);
    if (!isTooEarly || performance.now() >= end) return answer;
    await delay(POLL_MS);
  }
}

/** From now on SIGINT and SIGTERM fire `signal` instead of ending the process. `exitCode` is that of the one that came. */
export function interruption({ onSignal }: Io): { readonly signal: AbortSignal; readonly exitCode: () => number } {
  const controller = new AbortController();
  let code: number = INVOKE_EXIT.interrupted;
  const end = (exitCode: number) => () => {
    if (!controller.signal.aborted) code = exitCode;
    controller.abort();
  };
  onSignal('SIGINT', end(INVOKE_EXIT.interrupted));
  onSignal('SIGTERM', end(INVOKE_EXIT.terminated));
  return { signal: controller.signal, exitCode: () => code };
}

export function unreachable({ text }: CallPlace, { code, why }: Exchange & { kind: 'unreachable' }): CommandError {
  const hints: Readonly<Record<string, string>> = {
    EACCES: 'Run this as a user who may open it.',
    ENOTFOUND: 'No host has that name.',
  };
  const isQuiet = NOT_YET.has(code);
  const message = `no gateway answers at ${text}${isQuiet ? '' : ` (${printable(why)})`}`;
  const hint = hints[code ?? ''] ?? 'Start it with "packgate serve", or say where it is with --url.';
  return new CommandError(EXIT.unreachable, message, hint);
}
