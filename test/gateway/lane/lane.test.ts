import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../shared/http/refusal.ts';
import { Lane } from '../../../gateway/lane/lane.ts';
import type { Outcome, Waiter } from '../../../gateway/lane/lane.ts';
import { Target } from '../../../gateway/lane/target.ts';

function target(instance = 'a#1', concurrency = 2): Target {
  return new Target({
    instance,
    origin: 'http://127.0.0.1:1',
    token: 'token',
    tenantId: 'a',
    artifactVersion: '1',
    checksContext: true,
    keepsConnections: true,
    concurrency,
  });
}

class RecordingWaiter implements Waiter {
  target: Target | undefined;
  refusal: Refusal | undefined;
  admit(admitted: Target): void {
    this.target = admitted;
  }
  refuse(refusal: Refusal): void {
    this.refusal = refusal;
  }
}

function laneWith(settings: { size?: number } = {}) {
  const heard = { wanted: 0, outcomes: [] as Outcome[] };
  const lane = new Lane(
    {
      tenantId: 'a',
      deployment: 'default',
      queue: { size: settings.size ?? 10, waitMs: 1000 },
    },
    {
      onWanted: () => {
        heard.wanted += 1;
      },
      onOutcome: (_, outcome) => heard.outcomes.push(outcome),
    },
  );
  return { lane, heard };
}

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return error instanceof Refusal ? error.code : String(error);
  }
  return 'nothing thrown';
}

describe('a lane', () => {
  it('asks for an instance when a call comes and there is none, and lets the call wait', () => {
    const { lane, heard } = laneWith();
    lane.wake();
    expect(heard.wanted).toBe(1);
    expect(lane.enter(new RecordingWaiter())).toBeUndefined();
    expect(lane.waiting).toBe(1);
  });

  it('gives the open target at once and counts the call on it', () => {
    const { lane, heard } = laneWith();
    const open = target();
    lane.open(open);
    expect(lane.enter(new RecordingWaiter())).toBe(open);
    expect(open.inFlight).toBe(1);
    expect(heard.wanted).toBe(0);
  });

  it('admits those in line in their order when a target opens, up to its concurrency', () => {
    const { lane } = laneWith();
    const waiters = [new RecordingWaiter(), new RecordingWaiter(), new RecordingWaiter()];
    for (const waiter of waiters) lane.enter(waiter);
    const open = target();
    lane.open(open);
    expect(waiters.map((waiter) => waiter.target !== undefined)).toEqual([true, true, false]);
    lane.leave(open, 'answered');
    expect(waiters[2]?.target).toBe(open);
    expect(open.inFlight).toBe(2);
  });

  it('never lets a new call overtake one in line', () => {
    const { lane } = laneWith();
    const open = target('a#1', 1);
    lane.open(open);
    lane.enter(new RecordingWaiter());
    const first = new RecordingWaiter();
    lane.enter(first);
    const second = new RecordingWaiter();
    lane.enter(second);
    lane.leave(open, 'answered');
    expect([first.target, second.target]).toEqual([open, undefined]);
  });

  it('refuses with queue-full when its line is full', () => {
    const { lane } = laneWith({ size: 1 });
    lane.enter(new RecordingWaiter());
    expect(codeOf(() => lane.enter(new RecordingWaiter()))).toBe('queue-full');
  });

  it('forgets a waiter that leaves the line', () => {
    const { lane } = laneWith();
    const gone = new RecordingWaiter();
    lane.enter(gone);
    lane.withdraw(gone);
    const open = target('a#1', 1);
    lane.open(open);
    expect(gone.target).toBeUndefined();
    expect(open.inFlight).toBe(0);
  });

  it('keeps those in line when it is shut, and gives them the next target', () => {
    const { lane } = laneWith();
    const old = target('a#1', 1);
    lane.open(old);
    lane.enter(new RecordingWaiter());
    const waiting = new RecordingWaiter();
    lane.enter(waiting);
    expect(lane.shut()).toBe(old);
    lane.leave(old, 'answered');
    expect(waiting.target).toBeUndefined();
    const next = target('a#2', 1);
    lane.open(next);
    expect(waiting.target).toBe(next);
  });

  it('refuses those in line and everyone new, each with a refusal made at that moment', () => {
    const { lane, heard } = laneWith();
    const waiting = new RecordingWaiter();
    lane.enter(waiting);
    let made = 0;
    lane.refuse(() => new Refusal('cooling', { retryAfterS: (made += 1) }));
    expect(waiting.refusal?.code).toBe('cooling');
    expect(codeOf(() => lane.wake())).toBe('cooling');
    expect(codeOf(() => lane.enter(new RecordingWaiter()))).toBe('cooling');
    expect(made).toBe(3);
    expect(heard.wanted).toBe(1);
  });

  it('tells the control plane of an outcome before it gives the slot to the next in line', () => {
    const order: string[] = [];
    const lane = new Lane(
      { tenantId: 'a', deployment: 'default', queue: { size: 5, waitMs: 1000 } },
      { onWanted: () => undefined, onOutcome: (_, outcome) => order.push(outcome) },
    );
    const open = target('a#1', 1);
    lane.open(open);
    lane.enter(new RecordingWaiter());
    lane.enter({ admit: () => order.push('admitted'), refuse: () => undefined });
    lane.leave(open, 'unreachable');
    expect(order).toEqual(['unreachable', 'admitted']);
  });

  it('lets /v1/info visit a full target without taking a slot', () => {
    const { lane } = laneWith();
    const open = target('a#1', 1);
    lane.open(open);
    lane.enter(new RecordingWaiter());
    expect(lane.visit(new RecordingWaiter())).toBe(open);
    expect(open.inFlight).toBe(1);
  });

  it('lets /v1/info wait for a start like a call, and past the calls in line', () => {
    const { lane } = laneWith();
    lane.enter(new RecordingWaiter());
    lane.enter(new RecordingWaiter());
    const visitor = new RecordingWaiter();
    lane.visit(visitor);
    const open = target('a#1', 1);
    lane.open(open);
    expect(visitor.target).toBe(open);
    expect(open.inFlight).toBe(1);
  });

  it('still answers visits while it drains, until its target is gone', () => {
    const { lane } = laneWith();
    const open = target();
    lane.open(open);
    lane.drain();
    expect(lane.visit(new RecordingWaiter())).toBe(open);
    expect(codeOf(() => lane.enter(new RecordingWaiter()))).toBe('draining');
    lane.forget(open);
    expect(codeOf(() => lane.visit(new RecordingWaiter()))).toBe('draining');
  });
});

describe('a target', () => {
  it('says that it is empty when it is closed and the last call is back, once', () => {
    const closing = target();
    closing.take();
    closing.take();
    let empties = 0;
    closing.close(() => (empties += 1));
    closing.giveBack();
    expect(empties).toBe(0);
    closing.giveBack();
    expect(empties).toBe(1);
  });

  it('says so at once when no call is out', () => {
    let empties = 0;
    target().close(() => (empties += 1));
    expect(empties).toBe(1);
  });
});
