import { CONNECTION_REJECTED } from '../../shared/protocol/markers.ts';

/**
 * The same as `ctx.connectionRejected`, for code that has no context at hand: an error to throw when an app refuses the
 * token of a connection, which is named as the tool's `needsSpec.connections` names it.
 */
export function connectionRejected(connection: string): Error {
  return Object.assign(new Error(`the app refused the token of connection "${connection}"`), {
    name: 'ConnectionRejected',
    [CONNECTION_REJECTED]: connection,
  });
}
