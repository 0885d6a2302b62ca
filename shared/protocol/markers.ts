/**
 * How pack code tells its service something that is no plain value. Registered symbols: whoever makes such a value, the
 * context of a call or a helper bundled with the pack, means the same thing, and no JSON can contain one.
 */

/** On what a handler returns to pause its call: under it are the pause's options, `{timeoutMs?, name?}` (D46). */
export const PAUSE: unique symbol = Symbol.for('packgate.pause') as never;

/** On an error that a handler throws because an app refused a token: under it is the tool's name for that connection (D48). */
export const CONNECTION_REJECTED: unique symbol = Symbol.for('packgate.connection-rejected') as never;
