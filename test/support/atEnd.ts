import { afterAll } from 'vitest';

/** Takes what is to be done when the test, or the owner of several tests, has ended. Done in reverse order. */
export type AtEnd = (undo: () => void | Promise<void>) => void;

/** For what all tests of a file or of a `describe` share: call it there, and pass the result on in `beforeAll`. */
export function afterAllTests(): AtEnd {
  const undos: (() => void | Promise<void>)[] = [];
  afterAll(async () => {
    for (const undo of undos.toReversed()) await undo();
  });
  return (undo) => void undos.push(undo);
}
