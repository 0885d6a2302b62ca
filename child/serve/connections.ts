import { isBag } from '../modules/exports.ts';
import { CONNECTION_REJECTED } from '../../shared/protocol/markers.ts';

/** The error of `ctx.connectionRejected(name)`: the runtime renews that token and calls once more (D47). */
export class ConnectionRejected extends Error {
  readonly [CONNECTION_REJECTED]: string;

  constructor(connection: string) {
    super(`the app refused the token of connection "${connection}"`);
    this.name = 'ConnectionRejected';
    this[CONNECTION_REJECTED] = connection;
  }
}

/** `ctx.connectionRejected`: an error to throw. Throws a `TypeError` for a name that the call does not carry (D48). */
export function createConnectionRejected(ctx: Readonly<Record<string, unknown>>, connection: unknown): Error {
  const names = namesOf(ctx);
  if (typeof connection === 'string' && names.includes(connection)) return new ConnectionRejected(connection);
  const found = typeof connection === 'string' ? `"${connection}"` : `a ${typeof connection}`;
  const known = names.length === 0 ? 'none' : names.map((name) => `"${name}"`).join(', ');
  throw new TypeError(`Expected the name of a connection that the call carries (${known}), got ${found}`);
}

/**
 * The connection that a thrown value says was refused, by the tool's own name for it; undefined when it says nothing of the
 * kind, or names one that the call does not carry. Never throws.
 */
export function rejectedConnection(ctx: Readonly<Record<string, unknown>>, thrown: unknown): string | undefined {
  try {
    const connection = isBag(thrown) ? (thrown as { [CONNECTION_REJECTED]?: unknown })[CONNECTION_REJECTED] : undefined;
    return typeof connection === 'string' && namesOf(ctx).includes(connection) ? connection : undefined;
  } catch {
    // Something that throws when it is looked at.
    return undefined;
  }
}

function namesOf({ connections }: Readonly<Record<string, unknown>>): string[] {
  return isBag(connections) ? Object.keys(connections) : [];
}
