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
  /** A call is coming and nothing serves it, or somebody wants it to be up. */
  | 'wanted'
  /** The instance that is starting has been proven. */
  | 'ready'
  /** The instance that is starting or serving ended or cannot be reached, and is replaced after a delay. */
  | 'failed'
  /** As `failed` of one that serves, but without a delay: callers that wait stay in line. */
  | 'again'
  /** Another start is to take the place of the one that is under way, or waits for its delay; or to follow what serves. */
  | 'replace'
  /** The instance that serves is gone while the one that is to follow it is starting. */
  | 'lost'
  /** Long enough without a call, or room was needed. */
  | 'unused'
  /** The delay is over. */
  | 'cooled'
  /** It is not to run before somebody says so: an operator stopped it, or required environment is missing. */
  | 'stop'
  | 'start'
  /** It is removed, or the gateway is stopping. */
  | 'close';

export const DEPLOYMENT_MOVES: Moves<DeploymentState, DeploymentEvent> = {
  idle: { wanted: 'starting', stop: 'stopped', close: 'closed' },
  starting: {
    ready: 'ready',
    failed: 'cooling',
    replace: 'starting',
    stop: 'stopped',
    close: 'closed',
  },
  ready: {
    // The one that was to follow it.
    ready: 'ready',
    failed: 'cooling',
    again: 'idle',
    replace: 'ready',
    lost: 'starting',
    unused: 'idle',
    stop: 'stopped',
    close: 'closed',
  },
  cooling: { cooled: 'idle', replace: 'starting', stop: 'stopped', close: 'closed' },
  stopped: { start: 'idle', close: 'closed' },
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
