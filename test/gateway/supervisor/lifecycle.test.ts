import { describe, expect, it } from 'vitest';
import { DEPLOYMENT_MOVES, INSTANCE_MOVES, next } from '../../../gateway/supervisor/lifecycle.ts';
import type {
  DeploymentEvent,
  DeploymentState,
  InstanceEvent,
  InstanceState,
} from '../../../gateway/supervisor/lifecycle.ts';

/** Every state with every event: what is not written here must be refused. */
const INSTANCE: Record<InstanceState, Record<InstanceEvent, InstanceState | undefined>> = {
  starting: { proven: 'ready', stop: 'draining', exit: 'gone' },
  ready: { proven: undefined, stop: 'draining', exit: 'gone' },
  draining: { proven: undefined, stop: undefined, exit: 'gone' },
  gone: { proven: undefined, stop: undefined, exit: undefined },
};

type Row = Record<DeploymentEvent, DeploymentState | undefined>;
const NOTHING: Row = {
  wanted: undefined,
  ready: undefined,
  failed: undefined,
  again: undefined,
  replace: undefined,
  lost: undefined,
  unused: undefined,
  cooled: undefined,
  stop: 'stopped',
  start: undefined,
  close: 'closed',
};
const DEPLOYMENT: Record<DeploymentState, Row> = {
  idle: { ...NOTHING, wanted: 'starting' },
  starting: { ...NOTHING, ready: 'ready', failed: 'cooling', replace: 'starting' },
  ready: {
    ...NOTHING,
    ready: 'ready',
    failed: 'cooling',
    again: 'idle',
    replace: 'ready',
    lost: 'starting',
    unused: 'idle',
  },
  cooling: { ...NOTHING, cooled: 'idle', replace: 'starting' },
  stopped: { ...NOTHING, stop: undefined, start: 'idle' },
  closed: { ...NOTHING, stop: undefined, close: undefined },
};

describe('the moves of an instance', () => {
  for (const [state, row] of Object.entries(INSTANCE) as [InstanceState, Record<InstanceEvent, InstanceState>][]) {
    for (const [event, expected] of Object.entries(row) as [InstanceEvent, InstanceState | undefined][]) {
      it(`${state} on ${event}: ${expected ?? 'refused'}`, () => {
        expect(next(INSTANCE_MOVES, state, event)).toBe(expected);
      });
    }
  }
});

describe('the moves of a deployment', () => {
  for (const [state, row] of Object.entries(DEPLOYMENT) as [DeploymentState, Row][]) {
    for (const [event, expected] of Object.entries(row) as [DeploymentEvent, DeploymentState | undefined][]) {
      it(`${state} on ${event}: ${expected ?? 'refused'}`, () => {
        expect(next(DEPLOYMENT_MOVES, state, event)).toBe(expected);
      });
    }
  }

  it('never leave closed', () => {
    expect(Object.keys(DEPLOYMENT_MOVES.closed)).toEqual([]);
  });
});
