import assert from 'node:assert/strict';
import { ECHO, get } from '../client/call.ts';
import { processClause } from '../clause.ts';
import { needModule, withEntry } from '../packNeeds.ts';
import type { PackIndex } from '../service.ts';
import { problemsOf, withoutOption } from './failedStart.ts';
import { eventOf, eventsOf } from './lines.ts';
import { serving } from './serving.ts';

/** An index in which the modules of these tools are others. */
function withModules(index: PackIndex, pathById: Readonly<Record<string, string>>): PackIndex {
  return Object.entries(pathById).reduce(
    (changed, [id, modulePath]) => withEntry(changed, 'tools', id, (entry) => ({ ...entry, modulePath })),
    index,
  );
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
        index: (index) =>
          withModules(index, {
            [ECHO]: 'tools/not-there.mjs',
            'conformance.throws': needModule(target, 'importFails'),
            'conformance.hold': 'tools/nor/this.mjs',
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
      const importFails = needModule(target, 'importFails');
      const problems = await problemsOf(target, 'boot-failed', {
        index: (index) =>
          withEntry(
            withModules(index, { [ECHO]: importFails, 'conformance.hold': importFails }),
            'guardrails',
            'conformance.min-length',
            (entry) => ({ ...entry, checkModulePath: importFails }),
          ),
      });
      assert.equal(problems.length, 3);
      for (const id of [ECHO, 'conformance.hold', 'conformance.checks.min-length']) {
        const problem = problems.find((text) => text.startsWith(`${id}: `));
        assert.match(problem ?? `nothing about ${id}`, /this module does not load/);
      }
    },
    ['C12'],
  ),

  processClause(
    'C14/listening',
    'once it listens it says so, one time, with port, pack and artifact version',
    async (target) => {
      await serving(target, {}, async (service) => {
        const { port, packId, artifactVersion } = await eventOf(service.process, 'listening');
        const { expectedInfo } = service;
        assert.equal(port, service.port);
        assert.deepEqual([packId, artifactVersion], [expectedInfo.packId, expectedInfo.artifactVersion]);
        await service.process.stop();
        assert.equal(eventsOf(service.process, 'listening').length, 1, 'how often in its whole life');
      });
    },
  ),
];
