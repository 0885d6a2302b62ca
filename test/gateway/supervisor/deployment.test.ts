import { describe, expect, it } from 'vitest';
import { settle, SETTINGS, World } from './world.ts';

describe('replacing what serves', () => {
  it('gives calls to the next instance as soon as it is proven, and ends the old one when its calls are back', async () => {
    const world = new World();
    const old = await world.becomeReady();
    const long = world.call();
    const boot = world.deployment.replace('reload', true);
    await settle();
    expect(world.runs).toHaveLength(2);
    expect(world.call().target).toBe(old.target);
    world.lastRun.becomeReady();
    expect(await boot?.concluded).toMatchObject({ ok: true });
    expect(world.call().target).toBe(world.lastRun.target);
    expect(old.signals).toBe(0);
    if (long.target !== undefined) world.deployment.lane.leave(long.target, 'answered');
    expect(old.signals).toBe(0);
    world.back('answered');
    world.back('answered');
    expect([old.signals, old.inFlightAtStop]).toEqual([1, 0]);
    expect(world.deployment.state).toBe('ready');
  });

  it('keeps the old instance and the reason where the next one fails', async () => {
    const world = new World();
    const old = await world.becomeReady();
    const boot = world.deployment.replace('reload', true);
    await settle();
    world.lastRun.failToStart('boot-failed');
    expect(await boot?.concluded).toMatchObject({ ok: false, code: 'boot-failed' });
    expect(world.deployment.state).toBe('ready');
    expect(world.deployment.past.reason).toMatchObject({ code: 'boot-failed' });
    expect(world.call().target).toBe(old.target);
    expect(world.deployment.failures).toBe(0);
  });

  it('lets the newest of two replacements win', async () => {
    const world = new World();
    await world.becomeReady();
    const first = world.deployment.replace('reload', true);
    await settle();
    const second = world.deployment.replace('reload', true);
    await settle();
    expect(await first?.concluded).toMatchObject({ ok: false, code: 'superseded' });
    expect(world.runs.map(({ state }) => state)).toEqual(['ready', 'draining', 'starting']);
    world.lastRun.becomeReady();
    expect(await second?.concluded).toMatchObject({ ok: true });
    await world.clock.pass(10_000);
    expect(world.runs.map(({ state }) => state)).toEqual(['gone', 'gone', 'ready']);
  });

  it('tries a new build at once while it cools', async () => {
    const world = new World();
    world.call();
    await settle();
    world.lastRun.failToStart('boot-failed');
    await settle();
    expect(world.deployment.state).toBe('cooling');
    world.deployment.replace('reload', true);
    await settle();
    expect(world.deployment.state).toBe('starting');
    const call = world.call();
    world.lastRun.becomeReady();
    await settle();
    expect(call.target).toBe(world.lastRun.target);
    await world.clock.pass(120_000);
    expect(world.runs).toHaveLength(2);
  });

  it('goes on with the one that is starting when what serves dies meanwhile', async () => {
    const world = new World();
    const old = await world.becomeReady();
    world.deployment.replace('reload', true);
    await settle();
    old.exit();
    await settle();
    expect(world.deployment.state).toBe('starting');
    const call = world.call();
    world.lastRun.becomeReady();
    await settle();
    expect(call.target).toBe(world.lastRun.target);
    expect(world.runs).toHaveLength(2);
  });

  async function swapWithCall(world: World): Promise<void> {
    world.call();
    world.deployment.replace('restart', false);
    await settle();
    world.lastRun.becomeReady();
    await settle();
  }

  it('waits for the calls of two old instances for as long as they take; of a third only a while', async () => {
    const world = new World();
    await world.becomeReady();
    for (let swap = 0; swap < 3; swap += 1) await swapWithCall(world);
    expect(world.runs.map(({ signals }) => signals)).toEqual([0, 0, 0, 0]);
    await world.clock.pass(5_001);
    expect(world.runs.map(({ signals }) => signals)).toEqual([1, 0, 0, 0]);
    await world.clock.pass(600_000);
    expect(world.runs.map(({ signals }) => signals)).toEqual([1, 0, 0, 0]);
  });

  it('ends the oldest for nothing that is gone in a moment', async () => {
    const world = new World();
    await world.becomeReady();
    for (let swap = 0; swap < 3; swap += 1) await swapWithCall(world);
    const second = world.runs[1]?.target;
    if (second !== undefined) world.deployment.lane.leave(second, 'answered');
    await world.clock.pass(60_000);
    expect(world.runs.map(({ signals }) => signals)).toEqual([0, 1, 0, 0]);
  });

  it('never waits for more than four', async () => {
    const world = new World();
    await world.becomeReady();
    for (let swap = 0; swap < 5; swap += 1) await swapWithCall(world);
    expect(world.runs.map(({ signals }) => signals)).toEqual([1, 0, 0, 0, 0, 0]);
  });

  it('builds anew after a fresh start failed while nothing served, and goes by the kept build where something did', async () => {
    const world = new World();
    const old = await world.becomeReady();
    world.deployment.replace('reload', true);
    await settle();
    world.lastRun.failToStart('boot-failed');
    await settle();
    old.exit();
    await settle();
    world.call();
    await settle();
    expect(world.lastRun.build).toBe(old.build);
  });
});

describe('what an operator orders', () => {
  it('stop refuses calls and ends everything; start undoes it', async () => {
    const world = new World();
    const run = await world.becomeReady();
    world.call();
    const stopped = world.deployment.stop();
    expect(run.signals).toBe(1);
    expect(world.call().refusal?.code).toBe('stopped');
    await world.clock.pass(10_000);
    await stopped;
    expect(world.deployment.replace('reload', true)).toBeUndefined();
    expect(world.deployment.start()).toBe(true);
    const call = world.call();
    await settle();
    world.lastRun.becomeReady();
    await settle();
    expect(call.target).toBe(world.lastRun.target);
  });

  it('a pack whose environment is missing is tried again by a reload', async () => {
    const world = new World();
    const call = world.call();
    await settle();
    world.lastRun.failToStart('missing-env');
    await settle();
    expect(call.refusal?.code).toBe('missing-env');
    expect(world.call().refusal?.code).toBe('missing-env');
    await world.clock.pass(600_000);
    expect(world.runs).toHaveLength(1);
    world.deployment.replace('reload', true);
    await settle();
    world.lastRun.becomeReady();
    await settle();
    expect(world.deployment.state).toBe('ready');
  });

  it('a removed deployment refuses with 421 and starts nothing any more', async () => {
    const world = new World();
    const call = world.call();
    await settle();
    void world.deployment.close('removed');
    expect(call.refusal?.code).toBe('pack-tenant-mismatch');
    expect(world.lastRun.signals).toBe(1);
    world.deployment.onWanted();
    world.deployment.open();
    world.deployment.start();
    await world.clock.pass(60_000);
    expect(world.runs).toHaveLength(1);
  });
});

describe('settings that change', () => {
  it('replace what serves, wake nothing that sleeps, and hold for the next start', async () => {
    const world = new World();
    world.deployment.update({ ...SETTINGS, concurrency: 1 }, true);
    await settle();
    expect(world.runs).toHaveLength(0);
    await world.becomeReady();
    world.deployment.update({ ...SETTINGS, env: { A: '1' } }, true);
    await settle();
    expect(world.runs).toHaveLength(2);
  });

  it('in place, where no other process is needed', async () => {
    const world = new World();
    await world.becomeReady();
    world.deployment.update({ ...SETTINGS, queue: { size: 0, waitMs: 1 } }, false);
    expect(world.runs).toHaveLength(1);
    world.call();
    world.call();
    expect(world.call().refusal?.code).toBe('queue-full');
  });

  it('to eager start an instance, which stays up and comes back', async () => {
    const world = new World();
    world.deployment.update({ ...SETTINGS, start: 'eager', idleMs: 1_000 }, false);
    await settle();
    world.lastRun.becomeReady();
    await settle();
    await world.clock.pass(5_000);
    world.deployment.tick(world.clock.now());
    expect(world.deployment.state).toBe('ready');
    world.lastRun.exit();
    await settle();
    expect(world.runs).toHaveLength(2);
    world.lastRun.exit();
    await world.clock.pass(1_000);
    expect(world.runs).toHaveLength(3);
  });
});

describe('an instance that has been used up', () => {
  it('by calls is replaced through a swap', async () => {
    const world = new World({ recycle: { ...SETTINGS.recycle, calls: 1 } });
    const old = await world.becomeReady();
    world.deployment.tick(world.clock.now());
    await settle();
    world.lastRun.becomeReady();
    await settle();
    expect(world.runs.map(({ state }) => state)).toEqual(['draining', 'ready']);
    expect(old.inFlightAtStop).toBe(0);
  });

  it('is not replaced in a loop where the next one fails', async () => {
    const world = new World({ recycle: { ...SETTINGS.recycle, ageMs: 1_000 } });
    await world.becomeReady();
    await world.clock.pass(2_000);
    for (let tick = 0; tick < 100; tick += 1) {
      world.deployment.tick(world.clock.now());
      await settle();
      if (world.lastRun.state === 'starting') world.lastRun.failToStart('boot-failed');
      await world.clock.pass(100);
    }
    expect(world.runs).toHaveLength(2);
    expect(world.deployment.state).toBe('ready');
  });
});

describe('an instance that lost a call', () => {
  it('gets no call until it has answered for its health, then those that waited', async () => {
    const world = new World();
    const run = await world.becomeReady();
    world.call();
    world.back('lost');
    const waiting = world.call();
    expect(waiting.answers).toBe(0);
    await settle();
    expect(waiting.target).toBe(run.target);
    expect(world.runs).toHaveLength(1);
  });
});

describe('an instance that is late', () => {
  it('but answers for its health keeps its calls', async () => {
    const world = new World();
    const run = await world.becomeReady();
    world.call();
    world.back('late');
    await world.clock.pass(10_000);
    expect(world.deployment.serving).toBe(run);
    expect(world.call().target).toBe(run.target);
  });

  it('and answers nobody is replaced; its other calls get a while to end', async () => {
    const world = new World();
    const run = await world.becomeReady();
    world.call();
    world.call();
    run.isHealthy = false;
    world.back('late');
    await settle();
    const waiting = world.call();
    world.lastRun.becomeReady();
    await settle();
    expect(waiting.target).toBe(world.lastRun.target);
    expect(run.signals).toBe(0);
    await world.clock.pass(4_900);
    expect(run.signals).toBe(0);
    await world.clock.pass(200);
    expect(run.signals).toBe(1);
  });

  it('that says it is draining is replaced and gets no second signal from us before its calls have ended', async () => {
    const world = new World();
    const run = await world.becomeReady();
    world.call();
    world.call();
    world.back('draining');
    await settle();
    expect(world.runs).toHaveLength(2);
    await world.clock.pass(8_000);
    expect(run.signals).toBe(0);
  });
});

describe('memory', () => {
  it('that is used up refuses who waits, and the next call a second later tries again', async () => {
    const world = new World();
    world.hasRoom = false;
    const call = world.call();
    await settle();
    expect(call.refusal).toMatchObject({ code: 'memory', status: 503, retryAfterS: 1 });
    expect(world.runs).toHaveLength(0);
    world.hasRoom = true;
    await world.clock.pass(1_001);
    world.call();
    await settle();
    expect(world.runs).toHaveLength(1);
    expect(world.deployment.failures).toBe(0);
  });

  it('is made by what nobody uses, never by what has a call', async () => {
    const world = new World();
    const run = await world.becomeReady();
    const call = world.call();
    world.deployment.tick(world.clock.now());
    world.deployment.rest('memory');
    expect([world.deployment.state, run.signals]).toEqual(['ready', 0]);
    if (call.target !== undefined) world.deployment.lane.leave(call.target, 'answered');
    world.deployment.tick(world.clock.now());
    world.deployment.rest('memory');
    expect([world.deployment.state, run.signals]).toEqual(['idle', 1]);
  });
});
