import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { DeploymentSettings } from '../config/configuration.ts';
import { runtimeOf } from '../runtimes/index.ts';
import type { HostEnv } from '../runtimes/index.ts';
import { checkHash, readIndexFile, undatedHash } from './indexFile.ts';
import type { IndexFile } from './indexFile.ts';
import { runIndexer } from './indexing.ts';
import type { Launch } from './process.ts';
import { StartFailure } from './startFailure.ts';

export interface IndexOptions {
  readonly childProgram: string;
  readonly hostEnv: HostEnv;
  readonly launch: Launch;
  readonly log: Logger;
  /** A folder that is there; the indexer gets a place of its own in it. */
  readonly folder: string;
  readonly bundleDir: string;
  /** The index that was served last, if any: the indexer counts on from its version (E16). */
  readonly lastIndex: string | undefined;
  readonly signal: AbortSignal;
}

/** An index, and what tells it from another one. */
export interface FoundIndex {
  readonly file: IndexFile;
  readonly identity: string;
}

/**
 * The index of a pack as it is now: the configured one, else one that is built here.
 * @throws {StartFailure} when there is none, it is another than is configured, or its indexer failed or was given up.
 */
export async function indexOf(settings: DeploymentSettings, options: IndexOptions): Promise<FoundIndex> {
  if (settings.index !== undefined) {
    const file = await readIndexFile(settings.index);
    checkHash(file.facts, settings.indexHash);
    return { file, identity: file.facts.hash };
  }
  // Its own place for each run: one that is killed leaves what it has written there, and nowhere else.
  const place = await mkdtemp(join(options.folder, 'indexing-'));
  try {
    const file = await build(settings, join(place, 'index.json'), options);
    // When it was made is no part of it: a pack that has not changed is the same build after a second run.
    return { file, identity: undatedHash(file) };
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

async function build(settings: DeploymentSettings, outputPath: string, options: IndexOptions): Promise<IndexFile> {
  const { childProgram, hostEnv, launch, log, bundleDir, lastIndex, signal } = options;
  const context = { outputPath, childProgram, hostEnv, buildDir: bundleDir };
  const spec = runtimeOf(settings.runtime).index(settings, context);
  if (spec === undefined) {
    const text = `a pack run by a command needs an index; ${settings.path} has none`;
    throw new StartFailure('index', 'index-failed', text);
  }
  if (lastIndex !== undefined) await copyFile(lastIndex, outputPath).catch(() => undefined);
  // Given up meanwhile: an indexer that starts now would outlive the gateway that waits for its children.
  if (signal.aborted) throw new StartFailure('index', 'cancelled', 'ended before it was indexed');
  const { fileErrors, warnings } = await runIndexer(spec, { launch, timeoutMs: settings.bootTimeoutMs, signal });
  for (const problem of fileErrors) log.error({ event: 'file-error', problem }, 'a file of the pack is not served');
  for (const problem of warnings) log.warn({ event: 'index-warning', problem }, 'the indexer warns');
  return readIndexFile(outputPath);
}
