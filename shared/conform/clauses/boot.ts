import assert from 'node:assert/strict';
import { ECHO, get } from '../client/call.ts';
import { processClause } from '../clause.ts';
import type { IndexEntry } from '../service.ts';
import { problemsOf, withoutOption } from './failedStart.ts';
import { eventOf, eventsOf } from './lines.ts';
import { serving } from './serving.ts';

/** The entries with one of them changed. */
function changed(entries: readonly IndexEntry[], id: string, change: Readonly<Record<string, unknown>>): IndexEntry[] {
  return entries.map((entry) => (entry.id === id ? { ...entry, ...change } : entry));
}

/** Group C: start-up. */
export const boot = [
  processClause(
    'C12/listening-last',
    'the port is open and ready as soon as `listening` is written',
    async (target) => {
      await serving(target, {}, async (service) => {
        assert.equal((await get(service, '/readyz')).status, 200);
      });
    },
    ['C16'],
  ),

  processClause(
    'C13/unreadable-index',
    'an index that cannot be read or parsed is `boot-failed`',
    async (target) => {
      for (const options of [
        { index: () => '{ no JSON' },
        { args: (usual: readonly string[]) => [...withoutOption(usual, '--index'), '--index', '/no/such/index.json'] },
      ]) {
        const [problem] = await problemsOf(target, 'boot-failed', options);
        assert.match(problem ?? '', /^Cannot read the pack index/);
      }
    },
    ['C12'],
  ),

  processClause(
    'C13/version',
    'an index of another envelope version is `boot-failed` and the version is named',
    async (target) => {
      const problems = await problemsOf(target, 'boot-failed', { index: (index) => ({ ...index, v: 97 }) });
      assert.match(problems.join('\n'), /97/);
    },
    ['E1'],
  ),

  processClause(
    'C13/missing-module',
    'missing modules are named as in the index, and nothing else is told then',
    async (target) => {
      const problems = await problemsOf(target, 'boot-failed', {
        index: (index) => ({
          ...index,
          tools: changed(
            changed(changed(index.tools, ECHO, { modulePath: 'tools/not-there.mjs' }), 'conformance.throws', {
              modulePath: target.traits.importFails,
            }),
            'conformance.hold',
            { modulePath: 'tools/nor/this.mjs' },
          ),
        }),
      });
      assert.deepEqual(problems.sort(), ['Missing module: tools/nor/this.mjs', 'Missing module: tools/not-there.mjs']);
    },
    ['C12'],
  ),

  processClause(
    'C13/import-fails',
    'every module that does not load is told, by its tool or check',
    async (target) => {
      const { importFails } = target.traits;
      const check = 'conformance.min-length';
      const problems = await problemsOf(target, 'boot-failed', {
        index: (index) => ({
          ...index,
          tools: changed(changed(index.tools, ECHO, { modulePath: importFails }), 'conformance.hold', {
            modulePath: importFails,
          }),
          guardrails: changed(index.guardrails, check, { checkModulePath: importFails }),
        }),
      });
      assert.equal(problems.length, 3);
      for (const id of [ECHO, 'conformance.hold', 'conformance.checks.min-length']) {
        const problem = problems.find((text) => text.startsWith(`${id}: `));
        assert.match(problem ?? `nothing about ${id}`, /this module does not load/);
      }
    },
    ['C12'],
  ),

  processClause('C14/listening', 'once it listens it says so, with port, pack and artifact version', async (target) => {
    await serving(target, {}, async (service) => {
      const { port, packId, artifactVersion } = await eventOf(service.process, 'listening');
      const { expectedInfo } = service;
      assert.equal(port, service.port);
      assert.deepEqual([packId, artifactVersion], [expectedInfo.packId, expectedInfo.artifactVersion]);
      assert.equal(eventsOf(service.process, 'listening').length, 1);
    });
  }),
];
