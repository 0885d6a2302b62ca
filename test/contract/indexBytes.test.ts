import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';

import { canonicalText } from '../../child/index/canonical.ts';
import { packFolder } from '../child/support/child.ts';
import { newFolder, OUR_INDEXER, realIndexer, removeFolders, runIndexer, realMissing, SLOW } from './indexers.ts';
import type { Entry, Indexed } from './indexers.ts';

afterAll(removeFolders);

const { isSkipped, suffix } = realMissing();

/** What protocols 2.8 and 2.10 added to a tool's entry (E3); the real indexer, which stops at 2.7, leaves it out. */
const NEWER = new Set(['pauses', 'storesFiles', 'readsFiles']);

/** The index as an indexer of protocol 2.7 writes it. */
function withoutNewer({ index }: Indexed): string {
  const tools = index.tools.map(
    (tool) => Object.fromEntries(Object.entries(tool).filter(([key]) => !NEWER.has(key))) as Entry,
  );
  return canonicalText({ ...index, tools });
}

/** Built as a build does it (F16): a bundle for each primitive, and the map from source to bundle. */
async function bundlePack(pack: string, sources: readonly string[]): Promise<string[]> {
  const outdir = newFolder();
  await build({
    entryPoints: sources.map((source) => join(pack, source)),
    outdir,
    outbase: pack,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
  });
  const map = Object.fromEntries(sources.map((source) => [source, source.replace(/ts$/, 'mjs')]));
  writeFileSync(join(outdir, 'map.json'), JSON.stringify(map));
  return ['--bundle-map', join(outdir, 'map.json'), '--module-root', outdir];
}

function sourcesOf({ index }: Indexed): string[] {
  const entries = [...index.tools, ...index.guardrails, ...index.agents, ...index.flows];
  return entries.map((entry) => String(entry.modulePath ?? entry.checkModulePath));
}

describe('our indexer and the real Node indexer', () => {
  test.skipIf(isSkipped)(
    `E10 E13 E3: the conformance pack in JavaScript: the same bytes, but for what is newer than 2.7${suffix}`,
    SLOW,
    async () => {
      const pack = packFolder('conformance-js');
      const [ours, theirs] = [await runIndexer(OUR_INDEXER, pack), await runIndexer(realIndexer('node'), pack)];
      expect([ours.refused, theirs.refused]).toEqual([[], []]);
      expect(withoutNewer(ours)).toBe(theirs.text);
    },
  );

  test.skipIf(isSkipped)(
    `F18 F16 E13: the conformance pack in TypeScript: ours from its sources, theirs from a build${suffix}`,
    SLOW,
    async () => {
      const pack = packFolder('conformance-ts');
      const ours = await runIndexer(OUR_INDEXER, pack);
      const bundles = await bundlePack(pack, sourcesOf(ours));
      expect((await runIndexer(OUR_INDEXER, pack, bundles)).text).toBe(ours.text);
      const theirs = await runIndexer(realIndexer('node'), pack, bundles);
      expect([ours.refused, theirs.refused]).toEqual([[], []]);
      expect(withoutNewer(ours)).toBe(theirs.text);
    },
  );

  test.skipIf(isSkipped)(
    `F3 F5: a pack of Zod models: the same bytes, by the pack's own Zod and by theirs${suffix}`,
    SLOW,
    async () => {
      const pack = packFolder('node-typescript');
      const ours = await runIndexer(OUR_INDEXER, pack);
      const theirs = await runIndexer(realIndexer('node'), pack, await bundlePack(pack, sourcesOf(ours)));
      expect(theirs.refused).toEqual([]);
      expect(ours.text).toBe(theirs.text);
    },
  );

  test.skipIf(isSkipped)(
    `F8: the pack with every way to export: the same entries, but for a CommonJS default that only we unwrap${suffix}`,
    SLOW,
    async () => {
      const pack = packFolder('node-calls');
      const [ours, theirs] = [await runIndexer(OUR_INDEXER, pack), await runIndexer(realIndexer('node'), pack)];
      expect(theirs.refused).toEqual(['ambiguous-kind: tools/common.js']);
      const common = ours.index.tools.filter(({ modulePath }) => modulePath !== 'tools/common.js');
      expect(canonicalText({ ...ours.index, tools: common })).toBe(theirs.text);
    },
  );
});

describe('our index and the real Python indexer', () => {
  /** What both languages say of a primitive alike: not where it lies or in which words, and no list that is empty (E5). */
  const shape = (entries: readonly Entry[]): unknown =>
    entries.map((entry) => {
      const {
        modulePath: _module,
        checkModulePath: _check,
        effects: _effects,
        description: _description,
        input,
        output,
        configSchema,
        ...rest
      } = entry;
      const schemas = [input, output, configSchema].map((schema) => typeof schema);
      return { ...Object.fromEntries(Object.entries(rest).filter(([, value]) => !isEmptyList(value))), schemas };
    });

  test.skipIf(isSkipped)(
    `E3 E4 E5 E6 E11: the conformance pack in Python has the shape of the one in JavaScript${suffix}`,
    SLOW,
    async () => {
      const ours = await runIndexer(OUR_INDEXER, packFolder('conformance-js'));
      const theirs = await runIndexer(realIndexer('python'), packFolder('conformance-python'));
      const known = new Set(theirs.index.tools.map(({ id }) => id));
      const olderTools = (JSON.parse(withoutNewer(ours)) as Indexed['index']).tools.filter(({ id }) => known.has(id));
      expect(shape(olderTools)).toEqual(shape(theirs.index.tools));
      for (const list of ['guardrails', 'agents', 'flows'] as const) {
        expect(shape(ours.index[list])).toEqual(shape(theirs.index[list]));
      }
      // Canonical bytes are one format: their file printed by us is their file.
      expect(canonicalText(theirs.index)).toBe(theirs.text);
    },
  );
});

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
