/**
 * The two state machines as data. Whatever is not in a table is refused: `next` gives undefined and the event has no
 * effect. Both tables are tested whole, every state with every event.
 */
export type Moves<State extends string, Event extends string> = {
  readonly [From in State]: { readonly [On in Event]?: State };
};

/** One run of one process. Only moves to the right. */
export type InstanceState = 'starting' | 'ready' | 'draining' | 'gone';
export type InstanceEvent = 'proven' | 'stop' | 'exit';

export const INSTANCE_MOVES: Moves<InstanceState, InstanceEvent> = {
  starting: { proven: 'ready', stop: 'draining', exit: 'gone' },
  ready: { stop: 'draining', exit: 'gone' },
  draining: { exit: 'gone' },
  gone: {},
};

/** One tenant's pack. `closed` absorbs everything. */
export type DeploymentState = 'idle' | 'starting' | 'ready' | 'cooling' | 'stopped' | 'closed';

export type DeploymentEvent =
  /** A call is coming and nothing serves it. */
  | 'wanted'
  /** The starting instance has been proven. */
  | 'ready'
  /** The instance that is starting or serving ended or cannot be reached, and is replaced after a delay. */
  | 'failed'
  /** As `failed`, but without a delay: callers that wait stay in line. */
  | 'restart'
  /** Long enough without a call. */
  | 'unused'
  /** The delay is over. */
  | 'cooled'
  /** It cannot start before its configuration changes: required environment is missing. */
  | 'block'
  /** The gateway is stopping. */
  | 'close';

export const DEPLOYMENT_MOVES: Moves<DeploymentState, DeploymentEvent> = {
  idle: { wanted: 'starting', close: 'closed' },
  starting: { ready: 'ready', failed: 'cooling', block: 'stopped', close: 'closed' },
  ready: { failed: 'cooling', restart: 'idle', unused: 'idle', close: 'closed' },
  cooling: { cooled: 'idle', close: 'closed' },
  stopped: { close: 'closed' },
  closed: {},
};

/** Where `event` leads from `state`, or undefined: then it changes nothing. */
export function next<State extends string, Event extends string>(
  moves: Moves<State, Event>,
  state: State,
  event: Event,
): State | undefined {
  return moves[state][event];
}
