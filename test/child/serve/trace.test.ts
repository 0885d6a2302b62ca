import { expect, test } from 'vitest';

import { readTraceparent } from '../../../child/serve/trace.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

test('A20: a traceparent gives its trace id and a span id of its own', () => {
  const first = readTraceparent(`00-${TRACE}-${PARENT}-01`);
  const second = readTraceparent(`00-${TRACE}-${PARENT}-01`);
  expect(first).toEqual({ traceId: TRACE, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) });
  expect(first?.spanId).not.toBe(PARENT);
  expect(first?.spanId).not.toBe(second?.spanId);
});

test('A20: a later version may have more parts', () => {
  expect(readTraceparent(`01-${TRACE}-${PARENT}-01-more`)).toMatchObject({ traceId: TRACE });
});

test.each([
  undefined,
  '',
  'x',
  `00-${TRACE}-${PARENT}`,
  `00-${TRACE}-${PARENT}-01-more`,
  `ff-${TRACE}-${PARENT}-01`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  `00-${'0'.repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
])('A20: %j is none', (header) => {
  expect(readTraceparent(header)).toBeUndefined();
});
