import { afterAll, describe, expect, test } from 'vitest';

import { makeFolder } from '../child/support/folder.ts';
import { BAD_FLOWS, GOOD_FLOWS } from '../child/index/flowExamples.ts';
import { OUR_INDEXER, realIndexer, removeFolders, runIndexer, realMissing, SLOW } from './indexers.ts';

afterAll(removeFolders);

const { isSkipped, suffix } = realMissing();

const CONFIG = `export default { pack: { id: 'acme', version: '1.0.0' } };`;
const asModule = (value: object): string => `export default ${JSON.stringify(value)};`;
const guardrail = (id: string, more: string): string =>
  `export default { id: '${id}', kind: 'deterministic', action: { 'on-violation': 'block' }, ${more} };`;
const agent = (more: string): string =>
  `export default { id: 'acme.agent', version: '1.0.0', name: 'A', instructions: 'Help.', capabilities: [], tools: [], ${more} };`;
const tool = (more: string): string =>
  `export default { id: 'acme.tool', input: { type: 'object' }, output: {}, handler: () => 1, ${more} };`;

/** Files on which both indexers have to be of one mind, by path. */
const FILES: Readonly<Record<string, string>> = {
  'tools/a-first.mjs': tool(`version: '1.0.0'`),
  'tools/b-again.mjs': tool(`version: '1.0.0'`),
  'tools/c-newer.mjs': tool(`version: '2.0.0'`),
  'tools/d-unversioned.mjs': tool(''),
  'tools/throws.mjs': `throw new Error('no');`,
  'tools/no-default.mjs': 'export const tool = 1;',
  'tools/undefined-default.mjs': 'export default undefined;',
  'tools/function.mjs': 'export default () => 1;',
  'tools/failed.mjs': `export default { kind: 'err', error: { message: 'bad' } };`,
  'tools/ok.mjs': `export default { kind: 'ok', value: { id: 'acme.ok', input: { type: 'object' }, output: {}, handler() {} } };`,
  'tools/no-id.mjs': 'export default { input: {}, output: {}, handler() {} };',
  'tools/no-output.mjs': `export default { id: 'acme.no-output', input: {}, handler() {} };`,
  'tools/true-input.mjs': `export default { id: 'acme.true', input: true, output: {}, handler() {} };`,
  'tools/agent.mjs': agent(''),
  'agents/good.mjs': agent(`instructions: { prompt: 'p', version: '1' }, tags: ['x']`),
  'agents/no-capabilities.mjs': agent('capabilities: undefined'),
  'guardrails/built-in.mjs': guardrail('acme.built-in', `check: 'must-cite'`),
  'guardrails/named-like-one.mjs': guardrail('tool-order', ''),
  'guardrails/reserved.mjs': guardrail('acme.reserved', `check: { id: 'must-cite', evaluate() {} }`),
  'guardrails/reserved-export.mjs': `export const check = { id: 'max-tool-calls', evaluate() {} };\n${guardrail('acme.export', '')}`,
  'guardrails/unprefixed.mjs': guardrail('acme.unprefixed', `check: { id: 'mine', evaluate() {} }`),
  'guardrails/unprefixed-export.mjs': `export const check = { id: 'other', evaluate() {} };\n${guardrail('acme.other', `check: 'other'`)}`,
  'guardrails/unfit.mjs': guardrail(
    'acme.unfit',
    `configSchema: { type: 'object', properties: { n: {} }, required: ['n'] }`,
  ),
  'guardrails/uncompilable.mjs': guardrail('acme.uncompilable', `configSchema: { type: 'text' }`),
  'guardrails/text-config.mjs': guardrail('acme.text', `config: 'strict'`),
  'guardrails/twice.mjs': guardrail('acme.unprefixed', ''),
};

describe('our indexer and the real Node indexer', () => {
  test.skipIf(isSkipped)(
    `E19 E20 E8 F1 F2 F4: take and refuse the same files, for the same reasons${suffix}`,
    SLOW,
    async () => {
      const pack = makeFolder({ 'package.json': { type: 'module' }, 'kindgi.config.mjs': CONFIG, ...FILES });
      try {
        const [ours, theirs] = [
          await runIndexer(OUR_INDEXER, pack.path),
          await runIndexer(realIndexer('node'), pack.path),
        ];
        expect(ours.refused).toEqual(theirs.refused);
        expect(ours.warned).toEqual(theirs.warned);
        expect(ours.text).toBe(theirs.text);
      } finally {
        pack.remove();
      }
    },
  );

  test.skipIf(isSkipped)(`F6: take and refuse the same flows${suffix}`, SLOW, async () => {
    const good = Object.entries(GOOD_FLOWS).map(([name, flow]) => [`flows/good-${name}.mjs`, flow] as const);
    const bad = Object.entries(BAD_FLOWS).map(([name, [flow]]) => [`flows/bad-${name}.mjs`, flow] as const);
    // Each with an id of its own, so that none is refused as a duplicate.
    const files = [...good, ...bad].map(([path, flow], at) => [path, asModule({ ...flow, id: `acme.flow-${at}` })]);
    const pack = makeFolder({
      'package.json': { type: 'module' },
      'kindgi.config.mjs': CONFIG,
      ...(Object.fromEntries(files) as Record<string, string>),
    });
    try {
      const [ours, theirs] = [
        await runIndexer(OUR_INDEXER, pack.path),
        await runIndexer(realIndexer('node'), pack.path),
      ];
      expect(theirs.refused).toEqual(bad.map(([path]) => `manifest-validation-failed: ${path}`).sort());
      expect(ours.refused).toEqual(theirs.refused);
      expect(ours.text).toBe(theirs.text);
    } finally {
      pack.remove();
    }
  });
});
