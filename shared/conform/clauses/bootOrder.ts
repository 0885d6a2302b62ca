import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENV } from '../../process/contract.ts';
import { classifyLine } from '../../process/records.ts';
import { ECHO, invoke } from '../client/call.ts';
import { outputOf } from '../client/message.ts';
import { processClause } from '../clause.ts';
import { needModule, withEntry } from '../packNeeds.ts';
import type { PackIndex, ServiceProcess, StartOptions, Target } from '../service.ts';
import { problemsOf, withoutOption } from './failedStart.ts';
import { eventsOf } from './lines.ts';
import { serving } from './serving.ts';

/** Changes of an index: modules of the echo tool and, of another one, what the environment has to have. */
function changed(echo: string, env?: object): (index: PackIndex) => PackIndex {
  return (index) => ({
    ...withEntry(index, 'tools', ECHO, (entry) => ({ ...entry, modulePath: echo })),
    ...(env && { env }),
  });
}

/** The events of a start that must fail, in their order. */
async function eventsOfFailure(target: Target, options: StartOptions): Promise<string[]> {
  const started = await target.start(options);
  try {
    assert.deepEqual(await started.exit, { code: 1, signal: null });
    return started.lines().flatMap((line) => {
      const seen = classifyLine(line);
      return seen.type === 'event' ? [seen.event] : [];
    });
  } finally {
    await started.stop();
  }
}

/** Ends before it listens, with this exit code. */
async function failsWith(started: ServiceProcess, code: number): Promise<void> {
  try {
    assert.deepEqual(await started.exit, { code, signal: null });
    assert.deepEqual(eventsOf(started, 'listening'), [], 'it listened');
  } finally {
    await started.stop();
  }
}

/** Group C: what comes first at a start, and starts that fail in other ways. */
export const bootOrder = [
  processClause(
    'C11/configuration-first',
    'log settings are judged before the configuration, and that before the index',
    async (target) => {
      const noIndex = (usual: readonly string[]): string[] => [
        ...withoutOption(usual, '--index'),
        '--index',
        '/no/such/index.json',
      ];
      const port = { [ENV.port]: 'x' };
      const logs = await problemsOf(target, 'config-invalid', {
        env: { ...port, [ENV.logLevel]: 'loud' },
        args: noIndex,
      });
      assert.ok(!logs.join('\n').includes(ENV.port), 'a problem of the configuration is told');
      const configuration = await problemsOf(target, 'config-invalid', { env: port, args: noIndex });
      assert.ok(configuration.join('\n').includes(ENV.port), 'the problem is told');
      assert.ok(!configuration.join('\n').includes('Cannot read'), 'a problem of the index is told');
    },
    ['C4'],
  ),

  processClause(
    'C11/modules-before-environment',
    'a module that is not there is told before anything about the environment',
    async (target) => {
      const env = { required: ['NOT_SET_ANYWHERE'], optional: [] };
      const events = await eventsOfFailure(target, { index: changed('no/such.mjs', env), env: { UNDECLARED: 'x' } });
      assert.deepEqual(events, ['boot-failed']);
    },
    ['C9', 'C13'],
  ),

  processClause(
    'C11/environment-before-imports',
    'the environment is filtered, then judged, before any module is loaded',
    async (target) => {
      const env = { required: ['NOT_SET_ANYWHERE'], optional: [] };
      const index = changed(needModule(target, 'importFails'), env);
      const events = await eventsOfFailure(target, { index, env: { UNDECLARED: 'x' } });
      assert.deepEqual(events, ['env-dropped', 'missing-env', 'boot-failed']);
    },
    ['C9', 'C17'],
  ),

  processClause(
    'C1/module-root',
    "without `--module-root` modules are found from the index's own folder",
    async (target) => {
      const folder = mkdtempSync(join(tmpdir(), 'packgate-conform-'));
      try {
        const { packDir } = await target.shared();
        cpSync(packDir, folder, { recursive: true });
        const args = (usual: readonly string[], indexPath: string): string[] => {
          const index = join(folder, 'built.json');
          // Of the pack only what needs no package from around its folder.
          const { tools, ...rest } = JSON.parse(readFileSync(indexPath, 'utf8')) as PackIndex;
          const kept = { ...rest, tools: tools.filter(({ id }) => id === ECHO), guardrails: [], agents: [], flows: [] };
          writeFileSync(index, JSON.stringify(kept));
          return [...withoutOption(withoutOption(usual, '--index'), '--module-root'), '--index', index];
        };
        await serving(target, { args }, async (service) => {
          const message = 'from its own folder';
          assert.deepEqual(outputOf(await invoke(service, ECHO, { message })), { message });
        });
        const elsewhere = await problemsOf(target, 'boot-failed', {
          args: (usual) => withoutOption(usual, '--module-root'),
        });
        assert.match(elsewhere[0] ?? '', /^Missing module: /);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  ),

  processClause('C15/port-taken', 'a port that another has ends the start with exit code 1', async (target) => {
    const other = createServer();
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve);
    });
    try {
      const port = String((other.address() as AddressInfo).port);
      await failsWith(await target.start({ env: { [ENV.port]: port } }), 1);
    } finally {
      other.close();
    }
  }),

  processClause(
    'C15/module-exits',
    'a module that ends the process ends the start, with its exit code and no line',
    async (target) => {
      const started = await target.start({ index: changed(needModule(target, 'exits')) });
      await failsWith(started, 7);
      assert.deepEqual(eventsOf(started, 'boot-failed'), [], 'boot-failed');
    },
  ),

  processClause(
    'C37/before-listening',
    'SIGTERM while modules are loaded ends the process at once, and it never listens',
    async (target) => {
      const started = await target.start({ index: changed(needModule(target, 'slow')) });
      try {
        await started.printed('slow: loading');
        const since = performance.now();
        started.signal('SIGTERM');
        const { code, signal } = await started.exit;
        assert.ok(signal === 'SIGTERM' || code === 0, `it ended with ${code ?? signal}`);
        assert.ok(performance.now() - since < 5_000, 'it took its time');
        assert.deepEqual(eventsOf(started, 'listening'), [], 'it listened');
      } finally {
        await started.stop();
      }
    },
  ),
];
