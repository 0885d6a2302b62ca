import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { flowProblems } from '../../../child/index/flow/flowProblems.ts';
import { BAD_FLOWS, GOOD_FLOWS } from './flowExamples.ts';
import type { Flow } from './flowExamples.ts';

const problemsOf = (flow: Flow): string[] => flowProblems(JSON.parse(JSON.stringify(flow)) as Flow);

describe('flows', () => {
  test.each(Object.entries(GOOD_FLOWS))('F6 E6: the flow "%s" is right', (_name, flow) => {
    expect(problemsOf(flow)).toEqual([]);
  });

  test.each(Object.entries(BAD_FLOWS))('F6: the flow "%s" is refused with the place', (_name, [flow, ...words]) => {
    const text = problemsOf(flow).join('; ');
    for (const word of words) expect(text).toContain(word);
  });

  test('F6: all that is wrong with the graph is told at once', () => {
    const node = (id: string): object => ({ id, kind: 'tool', ref: 'acme.echo' });
    const edges = [
      { id: 'e', from: 'a', to: 'b' },
      { id: 'e', from: 'b', to: 'a' },
      { id: 'x', from: 'a', to: 'zz' },
    ];
    expect(problemsOf({ id: 'f', version: '1.0.0', nodes: [node('a'), node('b'), node('a')], edges })).toEqual([
      'node id "a" is there twice',
      'edge id "e" is there twice',
      'edge "x" goes to "zz", which is no node here',
      'no edge comes from "$start", so nothing would run',
      'the edges run in a circle: a → b → a',
    ]);
  });

  test('F6: an issue is about the kind of node that was meant, not about all the others', () => {
    const [text] = problemsOf(BAD_FLOWS['while-without-exit']?.[0] ?? {});
    expect(text).toBe("/nodes/0 must have required property 'exitCondition'");
  });

  test('F6: a chain of twenty thousand nodes is judged, and its circle found', () => {
    const nodes = Array.from({ length: 20_000 }, (_, at) => ({ id: `n${at}`, kind: 'tool', ref: 'acme.echo' }));
    const edges = nodes.map(({ id }, at) => ({ id: `e${at}`, from: at === 0 ? '$start' : `n${at - 1}`, to: id }));
    const flow = { id: 'f', version: '1.0.0', nodes, edges };
    expect(problemsOf(flow)).toEqual([]);
    expect(problemsOf({ ...flow, edges: [...edges, { id: 'back', from: 'n19999', to: 'n0' }] })).toHaveLength(1);
  });

  test('F6: whatever a flow holds, it is judged and never thrown at', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (nodes, edges) => {
        const problems = problemsOf({ id: 'f', version: '1.0.0', nodes, edges });
        expect(problems.every((problem) => problem !== '')).toBe(true);
      }),
    );
  });
});
