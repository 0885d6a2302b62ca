import type { Readable } from 'node:stream';

/** What a process that was started ahead of its time is told when the time comes. */
export interface Orders {
  readonly args: readonly string[];
  /** Added to its environment: what was not known when it was started. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Waits for the orders on `input`, which hold a token and are therefore in no file; whole at its end. Undefined: none
 * came, whoever would have given them has gone.
 */
export async function waitForOrders(input: Readable): Promise<Orders | undefined> {
  let text = '';
  for await (const chunk of input) text += String(chunk);
  return text === '' ? undefined : (JSON.parse(text) as Orders);
}
