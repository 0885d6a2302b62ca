import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { BundleMap } from '../modules/bundleMap.ts';
import { loadModules } from '../modules/load.ts';
import type { LoadOptions } from '../modules/load.ts';
import { createSchemaCompiler } from '../schemas.ts';
import type { IndexArguments } from './arguments.ts';
import { canonicalText } from './canonical.ts';
import { collect } from './collect.ts';
import type { Collected } from './collect.ts';
import { readConfig } from './config.ts';
import type { PackConfig } from './judgeConfig.ts';
import { compare, defaultPattern, discover, discoverIn } from './discover.ts';
import type { Candidate } from './discover.ts';
import { buildEnvelope, withoutDuplicates } from './envelope.ts';
import { PackError } from './errors.ts';
import type { FileError, Warning } from './errors.ts';
import { KINDS, pluralOf } from './kind.ts';
import type { Kind } from './kind.ts';
import { keepSchemas } from './keep.ts';
import { createSchemaLint } from './lint.ts';
import { nextArtifactVersion } from './version.ts';
import { writeIndex } from './write.ts';

/** For one module: one that waits for what never comes, with a connection open, must not hold up the whole run. */
const PATIENCE_MS = 30_000;

/** What was indexed (E17). */
export interface IndexReport {
  readonly packId: string;
  readonly packVersion: string;
  readonly artifactVersion: string;
  readonly publishedAt: string;
  readonly counts: Readonly<Record<`${Kind}s`, number>>;
  readonly outputPath: string;
  readonly fileErrors: readonly FileError[];
  readonly warnings: readonly Warning[];
}

/** What indexing needs of its process. */
export interface IndexHost extends Pick<LoadOptions, 'buildDir' | 'onLoopEmpty'> {
  /** The build folder when it outlives the process. */
  readonly keptDir: string | undefined;
}

/** Finds, loads, collects and writes. Throws a `PackError` when there can be no index. */
export async function indexPack(
  args: IndexArguments,
  map: BundleMap | undefined,
  { buildDir, keptDir, onLoopEmpty }: IndexHost,
): Promise<IndexReport> {
  if (statSync(args.packDir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new PackError('config-not-found', `There is no folder ${args.packDir}`);
  }
  const packDir = realpathSync(args.packDir);
  const loadOptions = { root: packDir, buildDir, onLoopEmpty, patienceMs: PATIENCE_MS };
  const config = await readConfig({ packDir, config: args.config }, async (path) => {
    const loaded = (await loadModules([path], loadOptions)).get(path);
    return loaded ?? { ok: false, error: new Error('it was not loaded') };
  });

  const { discovery } = config;
  const candidates = map === undefined ? discover(packDir, discovery) : discoverIn(map.sources, discovery);
  if (candidates.length === 0) throw nothingFound(args, config);
  const fileOf = ({ path }: Candidate): string => map?.fileOf(path, args.moduleRoot) ?? join(packDir, path);
  const modules = await loadModules(candidates.map(fileOf), loadOptions);

  const compiler = await createSchemaCompiler({ usesFormats: true });
  const context = { packDir, packId: config.id, compiler, lint: createSchemaLint(compiler) };
  const items: Collected[] = [];
  const errors: FileError[] = [];
  const warnings: Warning[] = [];
  for (const candidate of candidates) {
    const file = fileOf(candidate);
    const loaded = modules.get(file) ?? { ok: false, error: new Error('it was not loaded') };
    const result = await collect(candidate, { file, loaded }, context);
    if (result.item !== undefined) items.push(result.item);
    errors.push(...result.errors);
    warnings.push(...result.warnings);
  }
  const { kept, errors: duplicates } = withoutDuplicates(items);

  const now = new Date();
  const artifactVersion = args.artifactVersion ?? (await nextArtifactVersion(args.output, now));
  const publishedAt = args.publishedAt ?? now.toISOString();
  const envelope = buildEnvelope(config, kept, { artifactVersion, publishedAt });
  await writeIndex(args.output, canonicalText(envelope));
  if (keptDir !== undefined) await keepSchemas(args.output, compiler, keptDir);
  return {
    packId: config.id,
    packVersion: config.version,
    artifactVersion,
    publishedAt,
    counts: {
      tools: envelope.tools.length,
      guardrails: envelope.guardrails.length,
      agents: envelope.agents.length,
      flows: envelope.flows.length,
    },
    outputPath: args.output,
    fileErrors: [...errors, ...duplicates].sort((left, right) => compare(left.filePath, right.filePath)),
    warnings,
  };
}

function nothingFound({ packDir, bundleMap }: IndexArguments, { discovery }: PackConfig): PackError {
  const patterns = KINDS.map((kind) => discovery[pluralOf(kind)] ?? defaultPattern(kind)).join(', ');
  const where = bundleMap === undefined ? packDir : `the bundle map ${bundleMap}`;
  const what = `No file of a tool, guardrail, agent or flow in ${where}; looked for ${patterns}`;
  return new PackError('discovery-empty', `${what}: add one, or say in \`discovery\` where they are`);
}
