import assert from 'node:assert/strict';
import { HOLD, INVOKE, echoBody, get, invoke } from '../client/call.ts';
import { RawConnection } from '../client/connection.ts';
import { outputOf } from '../client/message.ts';
import { encodeRequest } from '../client/request.ts';
import type { Hold, RunningService, StartOptions, Target } from '../service.ts';

/** Runs a check with a service of its own and ends that, whatever the check says. */
export async function serving(
  target: Target,
  options: StartOptions,
  run: (service: RunningService) => Promise<void>,
): Promise<void> {
  const service = await target.open(options);
  try {
    await run(service);
  } finally {
    await service.process.stop();
  }
}

/** Runs a check while a call of the service is under way; that call must end well afterwards. */
export async function whileHeld(service: RunningService, run: (hold: Hold) => Promise<void>): Promise<void> {
  const hold = service.hold();
  const held = invoke(service, HOLD, { release: hold.path });
  // When the check fails first, nobody looks at the call any more.
  held.catch(() => {});
  try {
    await service.process.printed(`hold: ${hold.path}`);
    await run(hold);
    hold.release();
    assert.deepEqual(outputOf(await held), { released: true });
  } finally {
    hold.release();
  }
}

/** Sends a call whose body never ends, and waits until the service has begun to read it. */
export async function sendHalfACall(service: RunningService): Promise<RawConnection> {
  const connection = await RawConnection.open(service);
  const headers = { 'content-type': 'application/json', 'content-length': '100000' };
  connection.send(encodeRequest(service, { method: 'POST', path: INVOKE, headers }));
  connection.send(echoBody(service));
  // A request that was sent later has been answered: the service has seen what came before it.
  await get(service, '/healthz');
  return connection;
}
