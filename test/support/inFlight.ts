import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { until } from './files.ts';
import type { HostedStub } from './hostedStubs.ts';
import type { Answer } from './http.ts';

/** A call that its child has. The answer is wrapped, so that waiting for the call does not wait for it. */
export interface CallInFlight {
  readonly requestId: string;
  readonly answer: Promise<Answer>;
}

/** Starts a call that takes so long and returns when the child has it. */
export async function callInFlight(stub: HostedStub, ms: number): Promise<CallInFlight> {
  const requestId = randomUUID();
  const answer = stub.invoke({ requestId, input: { act: 'sleep', ms } });
  // Judged later; until then a failure must not count as unhandled.
  answer.catch(() => undefined);
  await until('the call runs', () => stub.ranIds().includes(requestId));
  return { requestId, answer };
}

/** When each of them got its one SIGTERM, in milliseconds since the epoch; any other signals are a failure. */
export function termsOf(...stubs: HostedStub[]): number[] {
  return stubs.flatMap((stub) => {
    const signals = stub.events('signal');
    expect(signals.map(({ signal }) => signal)).toEqual(['SIGTERM']);
    return signals.map(({ at }) => at);
  });
}
