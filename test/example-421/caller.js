// What is tested here: the part of a runtime that calls packs. Replace it by yours.
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** @typedef {{ url: string, token: string, tenantId: string, tool: string, input: unknown, runFor?: string }} Call */
/** @typedef {{ status: number, retryAfterS: number | undefined, message: any }} Answer */

/**
 * Calls a tool. What provably did not run and may be sent again (503 with Retry-After) is sent again, up to three times;
 * everything else is for whoever asked: a 421 stays a 421 however often it is sent, and a 500 may have run.
 * @param {Call} call
 * @returns {Promise<Answer>}
 */
export async function callTool(call) {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send(call);
    if (answer.status !== 503 || answer.retryAfterS === undefined || attempt === 3) return answer;
    await pause(answer.retryAfterS * 1000);
  }
}

/**
 * Not with `fetch`: by its specification it sends a request that was answered 421 a second time.
 * @param {Call} call
 * @returns {Promise<Answer>}
 */
function send({ url, token, tenantId, tool, input, runFor = tenantId }) {
  const message = { v: 2, kind: 'invoke', tool: { id: tool }, input, ctx: { tenantId: runFor, runId: 'run-1' } };
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL('/v1/invoke', url), {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'kindgi-pack-token': token, 'kindgi-tenant-id': tenantId },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (part) => (text += part));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const header = incoming.headers['retry-after'];
        const retryAfterS = header === undefined ? undefined : Number(header);
        resolve({ status: incoming.statusCode ?? 0, retryAfterS, message: JSON.parse(text) });
      });
    });
    outgoing.end(JSON.stringify(message));
  });
}
