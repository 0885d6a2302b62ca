import { loopSockets } from '../../dev/place.ts';
import type { Owner } from '../../dev/place.ts';
import type { StandInOffer } from '../../dev/standIns/standIns.ts';
import { isObject } from './input.ts';
import type { CallPlace } from './place.ts';
import { exchange } from './request.ts';
import type { Exchange } from './request.ts';

/** An answer of our own process on this machine. A loop that was stopped is not waited for. */
const ASK_MS = 2_000;

/**
 * The admin side of the development loop of this user that serves that place; undefined where none does. Loops are only
 * on this machine, so nothing is asked about any other.
 */
export async function loopAt({ connect, isTls }: CallPlace, owner: Owner): Promise<CallPlace | undefined> {
  if (isTls || 'socketPath' in connect || !['127.0.0.1', 'localhost'].includes(connect.host)) return undefined;
  const address = `http://127.0.0.1:${connect.port}`;
  const loops = (await loopSockets(owner)).map(placeOfSocket);
  const addresses = await Promise.all(
    loops.map(async (loop) => {
      return objectIn(await exchange(loop, { method: 'GET', path: '/v1/gateway', headers: {}, withinMs: ASK_MS }))
        ?.address;
    }),
  );
  return loops.find((_, at) => addresses[at] === address);
}

/** What it has for the call; undefined when it does not host that tenant. */
export async function askForStandIns(
  loop: CallPlace,
  call: { readonly tenant: string; readonly tool: string; readonly timeoutMs: number },
): Promise<StandInOffer | undefined> {
  const query = new URLSearchParams({ ...call, timeoutMs: String(call.timeoutMs) });
  const answer = await exchange(loop, {
    method: 'POST',
    path: `/v1/stand-ins?${query.toString()}`,
    headers: { 'content-length': 0 },
    withinMs: ASK_MS,
  });
  const offer = objectIn(answer);
  // A loop of an older version has none.
  return typeof offer?.call === 'string' ? (offer as unknown as StandInOffer) : undefined;
}

function placeOfSocket(socketPath: string): CallPlace {
  return { text: `unix:${socketPath}`, isTls: false, connect: { socketPath }, host: 'localhost' };
}

/** The JSON object of an answer that is 200; undefined for any other. */
export function objectIn(answer: Exchange): Readonly<Record<string, unknown>> | undefined {
  if (answer.kind !== 'answer' || answer.status !== 200) return undefined;
  try {
    const value: unknown = JSON.parse(answer.body.toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
