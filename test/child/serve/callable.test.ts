import { describe, expect, test } from 'vitest';

import { findCheck, findHandler } from '../../../child/serve/callable.ts';

const call = (): string => 'called';
const ok = (value: unknown): object => ({ kind: 'ok', value });
const commonJs = (value: unknown): object => ({ __esModule: true, default: value });

describe('the function of a tool', () => {
  test.each([
    ['a default function', { default: call }],
    ['an exported handler', { handler: call }],
    ['an exported run', { run: call }],
    ['a default with a handler', { default: { handler: call } }],
    ['a default with a run', { default: { run: call } }],
    ['an exported object with a handler', { handler: { handler: call } }],
    ['a default Result', { default: ok({ handler: call }) }],
    ['a CommonJS default', { default: commonJs({ handler: call }) }],
    ['a CommonJS default Result', { default: commonJs(ok({ handler: call })) }],
    ['a handler beside a default that has none', { default: { id: 'x' }, handler: call }],
  ])('F7 F8: %s', (_name, exports) => {
    expect(findHandler(exports)).toMatchObject({ ok: true, call });
  });

  test.each([
    ['nothing', {}],
    ['a check', { evaluate: call }],
    ['two levels in', { default: { tool: { handler: call } } }],
    ['a failed Result', { default: { kind: 'err', error: { message: 'bad' } } }],
    ['null', { default: null }],
  ])('F7: none in %s', (_name, exports) => {
    expect(findHandler(exports)).toMatchObject({ ok: false });
  });

  test('F8: a failed Result says why', () => {
    expect(findHandler({ default: { kind: 'err', error: { message: 'bad id' } } })).toMatchObject({
      why: expect.stringContaining('bad id'),
    });
  });

  test('F9: only a Zod 4 model parses the input', () => {
    const validate = (value: unknown): object => ({ value });
    const zod = { _zod: {}, '~standard': { validate } };
    expect(findHandler({ default: { handler: call, inputZod: zod } })).toMatchObject({ model: validate });
    const other = { '~standard': { validate } };
    expect(findHandler({ default: { handler: call, inputZod: other } })).toMatchObject({ model: undefined });
  });
});

describe('the function of a check', () => {
  test.each([
    ['an exported evaluate', { evaluate: call }],
    ['a default function', { default: call }],
    ['a default with evaluate', { default: { evaluate: call } }],
    ['an exported check function', { check: call }],
    ['an exported check with evaluate', { check: { evaluate: call } }],
    ['a guardrail with its check nested', { default: { check: { evaluate: call } } }],
    ['a guardrail with a nested function', { default: { check: call } }],
    ['a Result of a guardrail', { default: ok({ check: { evaluate: call } }) }],
    ['a guardrail with the Result of a check', { default: { check: ok({ evaluate: call }) } }],
  ])('F7 F8: %s', (_name, exports) => {
    expect(findCheck(exports)).toMatchObject({ ok: true, call });
  });

  test.each([
    ['a built-in check by name', { default: { check: 'must-cite' } }],
    ['a tool', { default: { handler: call } }],
    ['three levels in', { default: { check: { check: { evaluate: call } } } }],
  ])('F7: none in %s', (_name, exports) => {
    expect(findCheck(exports)).toMatchObject({ ok: false });
  });
});
