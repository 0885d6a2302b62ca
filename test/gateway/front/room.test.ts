import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Room } from '../../../gateway/front/room.ts';

const TOTAL = 400;
const PART = TOTAL / 4;
const OWN = 10;

interface Waiter {
  readonly tenant: string;
  readonly bytes: number;
  leave: () => void;
}

/** A room, and what it should know, written down plainly. */
class Model {
  readonly room = new Room(TOTAL, OWN);
  readonly faults: string[] = [];
  readonly held: { tenant: string; bytes: number }[] = [];
  readonly waiting: Waiter[] = [];

  insist(holds: boolean, otherwise: string): void {
    if (!holds) this.faults.push(otherwise);
  }

  heldBy(tenant: string): number {
    return this.held.filter((one) => one.tenant === tenant).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  enter(tenant: string, bytes: number): void {
    const isOwn = this.heldBy(tenant) + bytes <= OWN;
    const mayNotOvertake = this.waiting.some((one) => one.tenant === tenant || this.waitsForBudget(one));
    if (this.room.take(tenant, bytes)) {
      this.insist(isOwn || !mayNotOvertake, 'a newcomer overtook');
      this.held.push({ tenant, bytes });
    } else {
      this.insist(!isOwn, 'a small body had to wait');
      const waiter: Waiter = { tenant, bytes, leave: () => undefined };
      waiter.leave = this.room.await(tenant, bytes, () => {
        const place = this.waiting.indexOf(waiter);
        const older = this.waiting.slice(0, place);
        this.insist(!older.some((one) => one.tenant === tenant), 'a tenant’s later body overtook');
        const isSmall = this.heldBy(tenant) + bytes <= OWN;
        this.insist(isSmall || !older.some((one) => this.waitsForBudget(one)), 'one in line overtook');
        this.waiting.splice(place, 1);
        this.held.push({ tenant, bytes });
      });
      this.waiting.push(waiter);
    }
    this.check();
  }

  giveBack(at: number): void {
    const [one] = this.held.splice(at % this.held.length, 1);
    if (one !== undefined) this.room.giveBack(one.tenant, one.bytes);
    this.check();
  }

  leave(at: number): void {
    const [one] = this.waiting.splice(at % this.waiting.length, 1);
    one?.leave();
    this.check();
  }

  /** Neither for its tenant's part nor for its tenant's earlier bodies. */
  waitsForBudget(one: Waiter): boolean {
    const isFirst = this.waiting.find(({ tenant }) => tenant === one.tenant) === one;
    return isFirst && this.heldBy(one.tenant) + one.bytes - OWN <= PART;
  }

  check(): void {
    const tenants = [...new Set(this.held.map(({ tenant }) => tenant))];
    const parts = tenants.map((tenant) => Math.max(0, this.heldBy(tenant) - OWN));
    this.insist(Math.max(0, ...parts) <= PART, 'a tenant has more than its part');
    const usedBytes = parts.reduce((sum, part) => sum + part, 0);
    this.insist(this.room.usedBytes === usedBytes, 'it counts otherwise');
    this.insist(usedBytes <= TOTAL, 'more than there is was given away');
    // Nobody waits for what is there: the first in line that waits for the budget alone does not fit it.
    const first = this.waiting.find((one) => this.waitsForBudget(one));
    if (first === undefined) return;
    const needed =
      Math.max(0, this.heldBy(first.tenant) + first.bytes - OWN) - Math.max(0, this.heldBy(first.tenant) - OWN);
    this.insist(needed > TOTAL - usedBytes, 'somebody waits for what is there');
  }
}

/** Small ones and large ones, of so many tenants that the budget is used up most of the time. */
const enter = fc.record({
  do: fc.constant('enter'),
  tenant: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
  at: fc.oneof(fc.integer({ min: 1, max: 2 * OWN }), fc.integer({ min: PART / 2, max: PART })),
});
const undo = (what: 'giveBack' | 'leave') =>
  fc.record({ do: fc.constant(what), tenant: fc.constant(''), at: fc.nat({ max: 100 }) });
const step = fc.oneof(
  { weight: 6, arbitrary: enter },
  { weight: 3, arbitrary: undo('giveBack') },
  { weight: 1, arbitrary: undo('leave') },
);

describe('the room for bodies', () => {
  it('keeps its bounds, lets nobody overtake, and serves everyone who waits in the end', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
        const model = new Model();
        for (const { do: what, tenant, at } of steps) {
          if (what === 'enter') model.enter(tenant, at);
          else if (what === 'giveBack' && model.held.length > 0) model.giveBack(at);
          else if (what === 'leave' && model.waiting.length > 0) model.leave(at);
        }
        while (model.held.length > 0) model.giveBack(0);
        expect(model.faults).toEqual([]);
        expect(model.waiting).toEqual([]);
        expect(model.room.usedBytes).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it('has a tenant’s own part ready when four others have filled theirs', () => {
    const room = new Room(TOTAL, OWN);
    for (const hog of 'abcd') expect(room.take(hog, PART + OWN)).toBe(true);
    expect(room.usedBytes).toBe(TOTAL);
    expect([room.take('e', OWN), room.take('e', 1), room.take('f', OWN + 1)]).toEqual([true, false, false]);
  });

  it('says whether what a tenant holds is wanted by somebody who could use it', () => {
    const room = new Room(TOTAL, OWN);
    for (const hog of 'abcd') room.take(hog, PART + OWN);
    room.take('e', 5);
    expect(room.isWanted('a')).toBe(false);
    const leave = room.await('a', 50, () => undefined);
    // Waits for its own part: nobody else can help.
    expect([room.isWanted('a'), room.isWanted('b')]).toEqual([true, false]);
    leave();
    room.await('f', 50, () => undefined);
    // The one whose part is its own has nothing to give.
    expect([room.isWanted('a'), room.isWanted('b'), room.isWanted('e')]).toEqual([true, true, false]);
  });

  it('refuses at once what could never find room', () => {
    expect(() => new Room(TOTAL, OWN).await('a', PART + 1, () => undefined)).toThrow(/./);
  });
});
