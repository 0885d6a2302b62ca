import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { EXIT } from '../../shared/process/contract.ts';
import { readBundleMap } from '../modules/bundleMap.ts';
import type { BundleMap } from '../modules/bundleMap.ts';
import { loadModules } from '../modules/load.ts';
import type { OnLoopEmpty } from '../modules/load.ts';
import { createSchemaCompiler } from '../schemas.ts';
import { INDEX_USAGE, readIndexArguments } from './arguments.ts';
import type { IndexArguments } from './arguments.ts';
import { canonicalText } from './canonical.ts';
import { collect } from './collect.ts';
import type { Collected } from './collect.ts';
import { readConfig } from './config.ts';
import { compare, discover } from './discover.ts';
import type { Candidate } from './discover.ts';
import { buildEnvelope, withoutDuplicates } from './envelope.ts';
import { PackError } from './errors.ts';
import type { FileError, Warning } from './errors.ts';
import { KINDS, pluralOf } from './kind.ts';
import type { Kind } from './kind.ts';
import { nextArtifactVersion } from './version.ts';
import { writeAtomically } from './write.ts';

/** What the indexer gets from its process. */
export interface IndexProcess {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly onLoopEmpty: OnLoopEmpty;
  /** The folder for what is built from TypeScript. */
  readonly buildDir: () => string;
  /** This program's version. */
  readonly version: () => string;
}

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

const NAME = 'packgate-child index';

/** The whole run of the indexer. Resolves with its exit code (E.3). */
export async function index(host: IndexProcess): Promise<number> {
  const read = readIndexArguments(host.args, host.cwd);
  switch (read.kind) {
    case 'help':
      host.stdout(INDEX_USAGE);
      return EXIT.ok;
    case 'version':
      host.stdout(`${host.version()}\n`);
      return EXIT.ok;
    case 'usage':
      host.stderr(`${NAME}: ${read.problem}\n\n${INDEX_USAGE}`);
      return EXIT.usage;
    case 'run':
      break;
  }
  const { args } = read;
  const map = args.bundleMap === undefined ? undefined : await readBundleMap(args.bundleMap);
  if (map !== undefined && 'problem' in map) {
    host.stderr(`${NAME}: ${map.problem}\n`);
    return EXIT.usage;
  }
  try {
    const report = await indexPack(args, map, host);
    host.stdout(args.isJson ? jsonLine({ kind: 'ok', value: report }) : `${JSON.stringify(report, null, 2)}\n`);
    return args.isStrict && report.fileErrors.length > 0 ? EXIT.failed : EXIT.ok;
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    const { code, message, filePath, field } = error;
    if (args.isJson) host.stdout(jsonLine({ kind: 'err', error: { code, message, filePath, field } }));
    else host.stderr(`${NAME}: ${code}: ${message}\n`);
    return EXIT.failed;
  }
}

/** Finds, loads, collects and writes. Throws a `PackError` when there can be no index. */
async function indexPack(
  args: IndexArguments,
  map: BundleMap | undefined,
  { buildDir, onLoopEmpty }: IndexProcess,
): Promise<IndexReport> {
  if (statSync(args.packDir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new PackError('config-not-found', `There is no folder ${args.packDir}`);
  }
  const packDir = realpathSync(args.packDir);
  const loadOptions = { root: packDir, buildDir, onLoopEmpty };
  const config = await readConfig({ packDir, config: args.config }, async (path) => {
    const loaded = (await loadModules([path], loadOptions)).get(path);
    return loaded ?? { ok: false, error: new Error('it was not loaded') };
  });

  const candidates = discover(packDir, config.discovery);
  if (candidates.length === 0) {
    const folders = KINDS.map((kind) => config.discovery[pluralOf(kind)] ?? `${pluralOf(kind)}/`).join(', ');
    throw new PackError('discovery-empty', `No file of a primitive in ${packDir}; looked for ${folders}`);
  }
  const fileOf = ({ path }: Candidate): string => map?.fileOf(path, args.moduleRoot) ?? join(packDir, path);
  const modules = await loadModules(candidates.map(fileOf), loadOptions);

  const context = { packDir, packId: config.id, compiler: await createSchemaCompiler({ usesFormats: true }) };
  const items: Collected[] = [];
  const errors: FileError[] = [];
  const warnings: Warning[] = [];
  for (const candidate of candidates) {
    const file = fileOf(candidate);
    const loaded = modules.get(file) ?? { ok: false, error: new Error('it was not loaded') };
    const result = await collect(candidate, { file, loaded }, context);
    if (result.ok) {
      items.push(result.item);
      warnings.push(...result.warnings);
    } else {
      errors.push(result.error);
    }
  }
  const { kept, errors: duplicates } = withoutDuplicates(items);

  const now = new Date();
  const artifactVersion = args.artifactVersion ?? (await nextArtifactVersion(args.output, now));
  const publishedAt = args.publishedAt ?? now.toISOString();
  const envelope = buildEnvelope(config, kept, { artifactVersion, publishedAt });
  await writeAtomically(args.output, canonicalText(envelope));
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

function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
