import { describe, expect, it } from 'vitest';
import { MemoryBudget } from '../../../gateway/supervisor/budget.ts';
import { memoryOf } from '../../../gateway/supervisor/memory.ts';
import { World } from './world.ts';

const MIB = 1024 * 1024;

/** So many deployments that serve and take so much each; the first was used longest ago. */
async function worldsOf(count: number, bytesEach: number) {
  const worlds: World[] = [];
  for (let at = 0; at < count; at += 1) {
    const world = new World();
    await world.becomeReady();
    // The sweep sees its call once more, then that nothing came after it.
    world.deployment.tick(at);
    world.deployment.tick(at + 0.5);
    worlds.push(world);
  }
  const budget = new MemoryBudget(
    () => worlds.map(({ deployment }) => deployment),
    () => Promise.resolve(bytesEach),
  );
  return { worlds, budget };
}

/** Room for one more, with the clocks of all going on meanwhile, so that processes can end. */
async function roomFor(newcomer: World, budget: MemoryBudget, worlds: readonly World[]): Promise<boolean> {
  let result: boolean | undefined;
  void budget.makeRoom(newcomer.deployment).then((hasRoom) => (result = hasRoom));
  for (let turn = 0; turn < 20 && result === undefined; turn += 1) {
    for (const world of worlds) await world.clock.pass(20);
  }
  if (result === undefined) throw new Error('nobody knows whether there is room');
  return result;
}

const statesOf = (worlds: readonly World[]): string[] => worlds.map(({ deployment }) => deployment.state);

describe('the memory budget', () => {
  it('lets everything start where there is none, and measures nothing for it', async () => {
    const budget = new MemoryBudget(
      () => [],
      () => Promise.reject(new Error('measured')),
    );
    expect(await budget.makeRoom(new World().deployment)).toBe(true);
  });

  it('lets the first one start, however little there is: what it needs is known only then', async () => {
    const budget = new MemoryBudget(
      () => [],
      () => Promise.resolve(0),
    );
    budget.limitBytes = 1;
    expect(await budget.makeRoom(new World().deployment)).toBe(true);
  });

  it('lets one more start that fits, and nobody is stopped for it', async () => {
    const { worlds, budget } = await worldsOf(2, 100 * MIB);
    budget.limitBytes = 300 * MIB;
    expect(await roomFor(new World(), budget, worlds)).toBe(true);
    expect(statesOf(worlds)).toEqual(['ready', 'ready']);
  });

  it('stops the one that nobody used for longest, and no more than are needed', async () => {
    const { worlds, budget } = await worldsOf(3, 100 * MIB);
    budget.limitBytes = 300 * MIB;
    expect(await roomFor(new World(), budget, worlds)).toBe(true);
    expect(statesOf(worlds)).toEqual(['idle', 'ready', 'ready']);
  });

  it('never stops one with a call, nor one that is to be up; without any other there is no room', async () => {
    const { worlds, budget } = await worldsOf(2, 100 * MIB);
    worlds[0]?.call();
    worlds[1]?.deployment.update({ ...worlds[1].deployment.settings, start: 'eager' }, false);
    budget.limitBytes = 200 * MIB;
    expect(await roomFor(new World(), budget, worlds)).toBe(false);
    expect(statesOf(worlds)).toEqual(['ready', 'ready']);
  });

  it('stops idle ones when those that run have grown beyond it', async () => {
    const { worlds, budget } = await worldsOf(3, 100 * MIB);
    budget.limitBytes = 150 * MIB;
    const checked = budget.check();
    for (let turn = 0; turn < 10; turn += 1) for (const world of worlds) await world.clock.pass(20);
    await checked;
    expect(statesOf(worlds)).toEqual(['idle', 'idle', 'ready']);
    await budget.check();
    expect(budget.usedBytes).toBe(100 * MIB);
  });
});

describe('the memory of a process', () => {
  it('is measured with its descendants; of one that is not there nothing is known', async () => {
    expect(await memoryOf(process.pid)).toBeGreaterThan(10 * MIB);
    expect(await memoryOf(2 ** 22 + 1)).toBeUndefined();
  });
});
