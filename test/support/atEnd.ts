import { afterAll } from 'vitest';

/** Takes what is to be done when the test, or the owner of several tests, has ended. Done in reverse order. */
export type AtEnd = (undo: () => void | Promise<void>) => void;

/**
 * For what all tests of a file or of a `describe` share: call it there, and pass the result on in `beforeAll`. Everything is
 * undone, also when undoing something fails; the first failure is then the suite's.
 */
export function afterAllTests(): AtEnd {
  const undos: (() => void | Promise<void>)[] = [];
  afterAll(async () => {
    const failures: unknown[] = [];
    for (const undo of undos.toReversed()) {
      try {
        await undo();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw failures[0];
  });
  return (undo) => void undos.push(undo);
}
