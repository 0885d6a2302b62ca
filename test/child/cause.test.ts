import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { describeThrown, relativeText } from '../../child/cause.ts';

const ROOT = '/srv/packs/acme';

describe('what was thrown', () => {
  test('D21 D22: an error is told with paths relative to the pack', () => {
    const error = new TypeError(`cannot read ${ROOT}/data/x.json`);
    error.stack = [
      `TypeError: cannot read ${ROOT}/data/x.json`,
      `    at load (file://${ROOT}/tools/x.mjs:3:5)`,
      `    at file://${ROOT}/tools/y.mjs:1:1`,
      `    at async other (/srv/packs/node_modules/dep/index.js:9:2)`,
      `    at new Promise (<anonymous>)`,
      `    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)`,
    ].join('\n');
    expect(describeThrown(error, ROOT)).toEqual({
      text: 'TypeError: cannot read data/x.json',
      cause: {
        name: 'TypeError',
        message: 'cannot read data/x.json',
        stack: [
          'TypeError: cannot read data/x.json',
          '    at load (tools/x.mjs:3:5)',
          '    at tools/y.mjs:1:1',
          '    at async other (../node_modules/dep/index.js:9:2)',
        ].join('\n'),
      },
    });
  });

  test.each([
    [undefined, null],
    [null, null],
    ['text', 'text'],
    [5, 5],
    [false, false],
    [{ a: [1] }, { a: [1] }],
    [7n, '7'],
    [Symbol('s'), 'Symbol(s)'],
  ])('D21: %s becomes JSON', (thrown, cause) => {
    expect(describeThrown(thrown, ROOT).cause).toEqual(cause);
  });

  test('D21: nothing that is thrown makes it throw', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (thrown) => {
        const { cause, text } = describeThrown(thrown, ROOT);
        expect(typeof text).toBe('string');
        expect(() => JSON.stringify(cause)).not.toThrow();
      }),
    );
  });

  test('D21: something that throws when it is looked at is told as that', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(describeThrown(proxy, ROOT)).toEqual({ text: 'something that cannot be shown', cause: null });
  });

  test('D22: in a pack that lies in the root folder every path is its own', () => {
    expect(relativeText('in /a/b and 1/2', '/')).toBe('in /a/b and 1/2');
  });

  test('D22: a text keeps what is not of the pack', () => {
    expect(relativeText(`in ${ROOT} and ${ROOT}/a and /etc/x`, ROOT)).toBe('in . and a and /etc/x');
  });
});
