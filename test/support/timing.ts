import { expectRan } from './expectations.ts';
import type { HostedStub } from './hostedStubs.ts';

/**
 * How long each call of a tenant took in milliseconds, one after the other: as many as given, and until `over` has settled.
 */
export async function callTimesOf(
  stub: Pick<HostedStub, 'invoke'>,
  { atLeast = 400, over }: { atLeast?: number; over?: Promise<unknown> } = {},
): Promise<number[]> {
  let isOver = over === undefined;
  const end = (): void => void (isOver = true);
  over?.then(end, end);
  const times: number[] = [];
  while (!isOver || times.length < atLeast) {
    const from = performance.now();
    expectRan(await stub.invoke());
    times.push(performance.now() - from);
  }
  return times;
}

/** The value that so large a share (0–1) of them does not exceed; NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN;
}
