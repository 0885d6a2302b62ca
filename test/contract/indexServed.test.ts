import { afterAll, describe, expect, test } from 'vitest';

import { isEvent } from '../../shared/conform/clauses/lines.ts';
import { CHILD_MAIN, packFolder, TOKEN } from '../child/support/child.ts';
import { LaunchedProcess } from '../../gateway/cli/conform/launchedProcess.ts';
import { startProcess } from '../../gateway/supervisor/process.ts';
import { checkInvoke, info, invoke, post } from '../child/support/http.ts';
import { findRealServices } from '../support/realServices.ts';
import { newFolder, OUR_INDEXER, realIndexer, removeFolders, runIndexer, realMissing, SLOW } from './indexers.ts';

afterAll(removeFolders);

const { isSkipped, suffix } = realMissing();

const PACK = packFolder('conformance-js');
const TENANT = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
const OUR_SERVICE = [process.execPath, CHILD_MAIN, 'serve'];

function realNodeService(): readonly string[] {
  const real = findRealServices();
  return real.isFound ? real.nodeService : [];
}

/** What a service says of an index and of calls to what is in it. */
async function answersOf(service: readonly string[], indexPath: string): Promise<unknown> {
  const [command = '', ...first] = service;
  const args = [...first, '--index', indexPath, '--module-root', PACK, '--host', '127.0.0.1'];
  const env = { PATH: process.env.PATH ?? '', PORT: '0', KINDGI_PACK_SERVICE_TOKEN: TOKEN, KINDGI_LOG_FORMAT: 'json' };
  const child = new LaunchedProcess(startProcess, { command, args, env, cwd: newFolder() });
  try {
    const listening = await child.line(isEvent('listening'));
    const port = listening.type === 'event' ? Number(listening.fields.port) : Number.NaN;
    const messages = [
      invoke('conformance.echo', { message: 'hello' }, { tenantId: TENANT }),
      invoke('conformance.echo', { message: 7 }, { tenantId: TENANT }),
      invoke('conformance.defaults', {}, { tenantId: TENANT }),
      invoke('conformance.versioned', {}, { tenantId: TENANT }, '2.0.0'),
      checkInvoke('conformance.checks.min-length', { minLength: 3 }, { output: 'ab' }),
    ];
    const answers: unknown[] = [(await info(port)).json];
    for (const message of messages) answers.push((await post(port, message)).json);
    return answers;
  } finally {
    await child.stop();
  }
}

describe('an index of one, served by the other', () => {
  test.skipIf(isSkipped)(
    `E1 E9 F8 D28: our index is served by the real Node service as its own is${suffix}`,
    SLOW,
    async () => {
      const [ours, theirs] = [await runIndexer(OUR_INDEXER, PACK), await runIndexer(realIndexer('node'), PACK)];
      const answers = (await answersOf(realNodeService(), ours.indexPath)) as { indexHash?: string; kind?: string }[];
      expect(answers.slice(1).map(({ kind }) => kind)).toEqual(['result', 'error', 'result', 'result', 'check-result']);
      const own = (await answersOf(realNodeService(), theirs.indexPath)) as typeof answers;
      // Each has the hash of its own file's bytes, and ours has keys that theirs does not know.
      const { indexHash: _ours, ...ourInfo } = answers[0] ?? {};
      const { indexHash: _theirs, ...theirInfo } = own[0] ?? {};
      expect([ourInfo, ...answers.slice(1)]).toEqual([theirInfo, ...own.slice(1)]);
    },
  );

  test.skipIf(isSkipped)(
    `E1 E9 D28: the real indexer's index is served by our service as ours is${suffix}`,
    SLOW,
    async () => {
      const [ours, theirs] = [await runIndexer(OUR_INDEXER, PACK), await runIndexer(realIndexer('node'), PACK)];
      const answers = (await answersOf(OUR_SERVICE, theirs.indexPath)) as { indexHash?: string; kind?: string }[];
      expect(answers.slice(1).map(({ kind }) => kind)).toEqual(['result', 'error', 'result', 'result', 'check-result']);
      const own = (await answersOf(OUR_SERVICE, ours.indexPath)) as typeof answers;
      const { indexHash: _theirs, ...theirInfo } = answers[0] ?? {};
      const { indexHash: _ours, ...ourInfo } = own[0] ?? {};
      expect([theirInfo, ...answers.slice(1)]).toEqual([ourInfo, ...own.slice(1)]);
    },
  );
});
