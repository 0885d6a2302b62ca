import { describe, expect, test } from 'vitest';

import { Admission } from '../../../child/serve/admission.ts';
import type { Slot } from '../../../child/serve/admission.ts';
import { Refusal } from '../../../shared/http/refusal.ts';

function enter(admission: Admission): Slot {
  const slot = admission.enter();
  if (slot instanceof Refusal) throw slot;
  return slot;
}

async function isSettled(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), Promise.resolve().then(() => Promise.resolve(false))]);
}

describe('admission', () => {
  test('A2 A37: at the cap a call is refused, until another has left', () => {
    const admission = new Admission({ maxConcurrency: 2, missingEnv: [] });
    const first = enter(admission);
    enter(admission);
    expect(admission.enter()).toMatchObject({ code: 'overloaded' });
    first.leave();
    first.leave();
    enter(admission);
    expect(admission.enter()).toMatchObject({ code: 'overloaded' });
  });

  test('A9 C30: draining beats missing env, which beats the cap', () => {
    const admission = new Admission({ maxConcurrency: 0, missingEnv: ['A'] });
    expect(admission.enter()).toMatchObject({ code: 'missing-env' });
    void admission.drain();
    expect(admission.enter()).toMatchObject({ code: 'draining' });
    expect(admission.notReady()).toMatchObject({ code: 'draining' });
  });

  test('C30: a drain waits for answers that are still on their way, not only for running calls', async () => {
    const admission = new Admission({ maxConcurrency: 2, missingEnv: [] });
    const [first, second] = [enter(admission), enter(admission)];
    const drained = admission.drain();
    first.close();
    second.leave();
    expect(await isSettled(drained)).toBe(false);
    second.close();
    second.close();
    await drained;
  });

  test('C30: an idle service is drained at once', async () => {
    await expect(new Admission({ maxConcurrency: 1, missingEnv: [] }).drain()).resolves.toBeUndefined();
    const used = new Admission({ maxConcurrency: 1, missingEnv: [] });
    enter(used).close();
    await expect(used.drain()).resolves.toBeUndefined();
  });
});
