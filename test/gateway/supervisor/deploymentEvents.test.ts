import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../gateway/lane/lane.ts';
import { settle, SETTINGS, World } from './world.ts';
import type { FakeRun } from './world.ts';

type Step = (world: World) => void | Promise<void>;

const OUTCOMES: Outcome[] = ['answered', 'unreachable', 'unauthorized', 'draining', 'lost', 'late', 'left'];

/** Everything that can happen to a deployment, in words and as a deed. */
const STEPS: Record<string, Step> = {
  'a call comes': (world) => void world.call(),
  'the newest start becomes ready': (world) => world.runs.at(-1)?.becomeReady(),
  'some start becomes ready': (world) => world.runs.find(({ state }) => state === 'starting')?.becomeReady(),
  'the newest start fails': (world) => world.runs.at(-1)?.failToStart('boot-failed'),
  'the newest start misses its environment': (world) => world.runs.at(-1)?.failToStart('missing-env'),
  'what serves dies': (world) => (world.deployment.serving as FakeRun | undefined)?.exit(),
  'what serves hangs': (world) => {
    const run = world.deployment.serving as FakeRun | undefined;
    if (run !== undefined) run.isHealthy = false;
  },
  'the oldest process dies': (world) => world.runs.find(({ state }) => state !== 'gone')?.exit(),
  reload: (world) => void world.deployment.replace('reload', true),
  restart: (world) => void world.deployment.replace('restart', false),
  'the index changes': (world) => world.deployment.renew('index'),
  rollback: (world) => void (world.source.rollBack() ?? world.deployment.replace('rollback', false)),
  stop: (world) => void world.deployment.stop(),
  start: (world) => void world.deployment.start(),
  'the index breaks': (world) => void (world.source.fails = true),
  'the index is mended': (world) => void (world.source.fails = false),
  'memory runs out': (world) => void (world.hasRoom = false),
  'memory is free again': (world) => void (world.hasRoom = true),
  eager: (world) => world.deployment.update({ ...SETTINGS, start: 'eager' }, false),
  lazy: (world) => world.deployment.update({ ...SETTINGS, start: 'lazy' }, false),
  'other settings': (world) => world.deployment.update({ ...SETTINGS, env: { A: String(world.runs.length) } }, true),
  'room is made': (world) => world.deployment.rest('memory'),
  'the sweep': (world) => world.deployment.tick(world.clock.now()),
  'a moment passes': (world) => world.clock.pass(20),
  'a second passes': (world) => world.clock.pass(1_000),
  'a minute passes': (world) => world.clock.pass(60_000),
  'everything settles': settle,
  ...Object.fromEntries(
    OUTCOMES.map((outcome) => [`a call is back: ${outcome}`, (world: World) => world.back(outcome)]),
  ),
};

/** What leads anywhere happens more often than its share. */
const OFTEN = [
  'a call comes',
  'a call is back: lost',
  'the newest start becomes ready',
  'the newest start fails',
  'reload',
  'what serves dies',
  'everything settles',
];
const step = fc.oneof(fc.constantFrom(...Object.keys(STEPS)), fc.constantFrom(...OFTEN));

/** What must hold after every step, and does not. */
function broken({ deployment, runs, calls }: World): string[] {
  const { state, lane } = deployment;
  const serving = deployment.serving as FakeRun | undefined;
  const starting = runs.filter((run) => run.state === 'starting');
  const mayWait = state === 'idle' || state === 'starting' || state === 'ready';
  const rules: Record<string, boolean> = {
    'ready is to have something that serves': (state === 'ready') === (serving !== undefined),
    'calls go to what serves': lane.current === undefined || lane.current === serving?.target,
    'what serves was not told to end': (serving?.signals ?? 0) === 0,
    'one start at a time': starting.length <= 1,
    'a start that was given up is ended': starting.every((run) => run === deployment.next),
    'an instance gets one signal': runs.every(({ signals }) => signals <= 1),
    'a call is admitted or refused once': calls.every(({ answers }) => answers <= 1),
    'nobody waits for what will not come': mayWait || lane.waiting === 0,
  };
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [`${rule} (while ${state})`]));
}

describe('whatever happens to a deployment, in whatever order', () => {
  it('its invariants hold after each step, nobody waits for ever, and nothing is left at its end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.boolean()), { minLength: 1, maxLength: 40 }), async (steps) => {
        const world = new World({ idleMs: 5_000, recycle: { ...SETTINGS.recycle, calls: 10 } });
        for (const [name, settles] of steps) {
          await STEPS[name]?.(world);
          expect(broken(world)).toEqual([]);
          // What was promised by this step may happen before the next one, or after it.
          if (settles) await settle();
          expect(broken(world)).toEqual([]);
        }
        const { deployment } = world;
        const closed = deployment.close('drain');
        expect([deployment.state, ...broken(world)]).toEqual(['closed']);
        await world.clock.pass(15_000);
        await closed;
        expect(world.clock.pending, 'no timer is left').toBe(0);
        expect([deployment.state, ...broken(world)]).toEqual(['closed']);
        expect(deployment.alive, 'every process has ended').toEqual([]);
        expect(world.runs.filter((run) => run.state !== 'gone')).toEqual([]);
        expect(
          world.calls.filter(({ answers }) => answers !== 1),
          'every call was told',
        ).toEqual([]);
        const started = world.runs.length;
        world.deployment.open();
        world.deployment.onWanted();
        await world.clock.pass(600_000);
        expect(world.runs.length, 'nothing starts after the end').toBe(started);
      }),
      { numRuns: 300 },
    );
  });

  it('a pack that is well is served again, whatever was before', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (names) => {
        const world = new World();
        for (const name of names) await STEPS[name]?.(world);
        world.source.fails = false;
        world.hasRoom = true;
        world.deployment.start();
        for (let attempt = 0; attempt < 20; attempt += 1) {
          for (const call of world.calls) {
            if (call.target === undefined || call.isBack) continue;
            call.isBack = true;
            world.deployment.lane.leave(call.target, 'answered');
          }
          const call = world.call();
          await settle();
          for (const run of world.runs) {
            run.isHealthy = true;
            run.becomeReady();
          }
          await settle();
          if (call.target !== undefined) return;
          await world.clock.pass(80_000);
        }
        expect.fail('no call was served in twenty attempts');
      }),
      { numRuns: 100 },
    );
  });
});
