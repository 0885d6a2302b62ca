import { describe, expect, it } from 'vitest';
import { BootGate } from '../../../gateway/supervisor/bootGate.ts';
import type { Urgency } from '../../../gateway/supervisor/bootGate.ts';
import { FakeClock, settle } from './world.ts';

interface Visit {
  readonly name: string;
  readonly leave: () => void;
}

/** A gate, and who was let in, in order. */
function gateOf(places: number) {
  const clock = new FakeClock();
  const gate = new BootGate(places, clock);
  const inside: Visit[] = [];
  const refused: string[] = [];
  const enter = (name: string, tenantId: string, urgency: Urgency, signal = new AbortController().signal): void => {
    gate.enter({ id: name, tenantId, urgency, signal }).then(
      (leave) => void inside.push({ name, leave }),
      () => void refused.push(name),
    );
  };
  return { clock, gate, inside, refused, enter };
}

describe('the limit on starts', () => {
  it('lets so many in at once, and the next when one leaves', async () => {
    const { inside, enter } = gateOf(2);
    for (const name of ['a', 'b', 'c']) enter(name, name, 'call');
    await settle();
    expect(inside.map(({ name }) => name)).toEqual(['a', 'b']);
    inside[0]?.leave();
    await settle();
    expect(inside.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('lets those in first that calls wait for, then replacements, then what is only to be up', async () => {
    const { inside, enter } = gateOf(1);
    enter('first', 'x', 'eager');
    enter('eager', 'a', 'eager');
    enter('replace', 'b', 'replace');
    enter('call', 'c', 'call');
    for (let at = 0; at < 4; at += 1) {
      await settle();
      inside[at]?.leave();
    }
    expect(inside.map(({ name }) => name)).toEqual(['first', 'call', 'replace', 'eager']);
  });

  it('lets tenants take turns: one with many starts is behind one with few', async () => {
    const { inside, enter } = gateOf(1);
    for (let at = 0; at < 5; at += 1) enter(`many-${at}`, 'many', 'call');
    enter('few', 'few', 'call');
    for (let at = 0; at < 3; at += 1) {
      await settle();
      inside[at]?.leave();
    }
    expect(inside.slice(0, 3).map(({ name }) => name)).toEqual(['many-0', 'few', 'many-1']);
  });

  it('lets a start pass ahead when a call comes for it', async () => {
    const { gate, inside, enter } = gateOf(1);
    enter('first', 'x', 'call');
    enter('eager-1', 'a', 'eager');
    enter('eager-2', 'b', 'eager');
    gate.hurry('eager-2');
    gate.hurry('first');
    gate.hurry('nobody');
    await settle();
    inside[0]?.leave();
    await settle();
    expect(inside.map(({ name }) => name)).toEqual(['first', 'eager-2']);
  });

  it('takes a place away from a start that only waits, so that nobody can hold all places', async () => {
    const { clock, inside, enter } = gateOf(1);
    enter('slow', 'a', 'call');
    enter('next', 'b', 'call');
    await clock.pass(1_900);
    expect(inside).toHaveLength(1);
    await clock.pass(200);
    expect(inside.map(({ name }) => name)).toEqual(['slow', 'next']);
    inside[0]?.leave();
    inside[1]?.leave();
    await settle();
    expect(clock.pending).toBe(0);
  });

  it('forgets who is given up while it waits', async () => {
    const { gate, inside, refused, enter } = gateOf(1);
    const given = new AbortController();
    enter('first', 'a', 'call');
    enter('given up', 'b', 'call', given.signal);
    await settle();
    given.abort();
    await settle();
    expect([refused, gate.waiting]).toEqual([['given up'], 0]);
    inside[0]?.leave();
    await settle();
    expect(inside).toHaveLength(1);
  });

  it('has more places as soon as it is told so', async () => {
    const { gate, inside, enter } = gateOf(1);
    for (const name of ['a', 'b', 'c']) enter(name, name, 'call');
    await settle();
    gate.places = 3;
    await settle();
    expect(inside).toHaveLength(3);
  });
});
