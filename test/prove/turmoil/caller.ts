import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { callHeaders, invokeMessage, invokeMessageOf } from '../../support/calls.ts';
import type { Endpoint } from '../../support/calls.ts';
import type { PlannedCall } from './plan.ts';

/** How one sending of a call ended: a status, or its connection ended without a whole answer. */
export interface Attempt {
  readonly requestId: string;
  readonly status: number | 'cut' | 'abandoned';
  readonly hasRetryAfter: boolean;
  readonly code: string | undefined;
}

const LARGE_BYTES = 200 * 1024;

/** Like a runtime: a call answered 503 with `Retry-After` is sent again, nothing else is. */
const MAX_ATTEMPTS = 6;
const LONGEST_PATIENCE_MS = 250;

const ACTS = {
  quick: 'answer',
  slow: 'sleep',
  deadly: 'die',
  abandoned: 'sleep',
  large: 'answer',
  deafening: 'close-listener',
  resetting: 'reset-connections',
} as const;

/** Sends calls on kept connections, and each sending exactly once. */
export class Caller {
  readonly #gateway: Endpoint;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 512 });

  constructor(gateway: Endpoint) {
    this.#gateway = gateway;
  }

  /** All sendings of one call, in order. Each has a request id of its own, so that its runs can be counted. */
  async call(number: number, tenantId: string, call: PlannedCall): Promise<Attempt[]> {
    const attempts: Attempt[] = [];
    for (let sending = 1; sending <= MAX_ATTEMPTS; sending += 1) {
      const attempt = await this.#send(`${number}-${sending}`, tenantId, call);
      attempts.push(attempt);
      if (attempt.status !== 503 || !attempt.hasRetryAfter) break;
      await pause(LONGEST_PATIENCE_MS / (MAX_ATTEMPTS + 1 - sending));
    }
    return attempts;
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(requestId: string, tenantId: string, { kind, ms }: PlannedCall): Promise<Attempt> {
    const input = { act: ACTS[kind], ms: kind === 'abandoned' ? ms + 20 : ms };
    const options = { requestId, input };
    const body = kind === 'large' ? invokeMessageOf(LARGE_BYTES, tenantId, options) : invokeMessage(tenantId, options);
    return new Promise((resolve) => {
      const ended = (status: Attempt['status'], more: Partial<Attempt> = {}): void =>
        resolve({ requestId, status, hasRetryAfter: false, code: undefined, ...more });
      const outgoing = request(`${this.#gateway.address}/v1/invoke`, {
        method: 'POST',
        agent: this.#agent,
        headers: {
          ...callHeaders(this.#gateway, tenantId, { requestId, timeoutMs: 20_000 }),
          'content-length': Buffer.byteLength(body),
          traceparent: `00-${randomUUID().replaceAll('-', '')}-00f067aa0ba902b7-01`,
        },
      });
      let isAbandoned = false;
      outgoing.on('error', () => ended(isAbandoned ? 'abandoned' : 'cut'));
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', () => ended(isAbandoned ? 'abandoned' : 'cut'));
        incoming.on('end', () =>
          ended(incoming.statusCode ?? 0, {
            hasRetryAfter: incoming.headers['retry-after'] !== undefined,
            code: codeIn(Buffer.concat(chunks)),
          }),
        );
      });
      outgoing.end(body);
      if (kind === 'abandoned') {
        setTimeout(() => {
          isAbandoned = true;
          outgoing.destroy();
        }, ms).unref();
      }
    });
  }
}

function codeIn(body: Buffer): string | undefined {
  try {
    const { code } = JSON.parse(body.toString()) as { code?: unknown };
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}
