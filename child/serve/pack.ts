import type { PackInfo } from '../../shared/protocol/messages.ts';
import { PROTOCOL_VERSION } from '../../shared/protocol/limits.ts';
import { PROTOCOL_SCHEMA } from '../../shared/protocol/schema.ts';
import type { Loaded } from '../modules/load.ts';
import type { Bag } from '../modules/exports.ts';
import { findCheck, findHandler } from './callable.ts';
import type { Found } from './callable.ts';
import type { CheckEntry, PackIndex, ToolEntry } from './packIndex.ts';
import { prepareSchemas } from '../schemas/prepare.ts';
import type { SchemaList } from '../schemas/wants.ts';
import type { Checker } from '../schemas.ts';

/** A tool that can be called: everything a call needs was prepared at boot, so that the first call costs what a later one costs. */
export interface Tool {
  readonly entry: ToolEntry;
  readonly input: Checker;
  readonly output: Checker;
  readonly handler: Found;
}

export interface Check {
  readonly entry: CheckEntry;
  /** Undefined: any config will do. */
  readonly config: Checker | undefined;
  readonly check: Found;
}

/** A pack whose modules are loaded. Frozen facts; owned by the service for its whole life. */
export interface Pack {
  readonly index: PackIndex;
  /** The pack's folder with links resolved, as stack traces name it. */
  readonly root: string;
  readonly tools: ReadonlyMap<string, readonly Tool[]>;
  readonly checks: ReadonlyMap<string, Check>;
  readonly verdict: Checker;
  /** Stores the compiled schemas for later starts, where there is a folder that outlives this one. Rejects when it cannot be written. */
  readonly keepSchemas: () => Promise<void>;
}

/** What a check answers: a CheckResult, open beyond the fields it names (D26). */
const VERDICT = PROTOCOL_SCHEMA.$defs.verdict;

/**
 * Brings an index and the modules it names together. `modules` has every module path of the index, loaded; in `keptDir`
 * compiled schemas are kept between starts.
 */
export async function preparePack(
  index: PackIndex,
  { root, modules, keptDir }: { root: string; modules: ReadonlyMap<string, Loaded>; keptDir: string | undefined },
): Promise<Pack> {
  const compiler = await prepareSchemas(schemasOf(index), keptDir);
  const tools = new Map<string, Tool[]>();
  for (const entry of index.tools) {
    const tool: Tool = {
      entry,
      input: compiler.input(entry.input),
      output: compiler.exact(entry.output),
      handler: findHandler(exportsOf(modules, entry.modulePath)),
    };
    const versions = tools.get(entry.id);
    if (versions === undefined) tools.set(entry.id, [tool]);
    else versions.push(tool);
  }
  const checks = new Map<string, Check>();
  for (const entry of index.checks) {
    // A check the runtime brings is not ours to run (D27); of two guardrails with one check the first is as good.
    if (entry.isBuiltIn || checks.has(entry.id)) continue;
    const config = entry.configSchema === undefined ? undefined : compiler.exact(entry.configSchema);
    checks.set(entry.id, { entry, config, check: findCheck(exportsOf(modules, entry.modulePath)) });
  }
  const verdict = compiler.exact(checks.size > 0 ? VERDICT : true);
  return { index, root, tools, checks, verdict, keepSchemas: () => compiler.keep() };
}

/** Every schema that `preparePack` asks for. */
export function schemasOf({ tools, checks, usesFormats }: PackIndex): SchemaList {
  const configs = checks.flatMap(({ configSchema }) => (configSchema === undefined ? [] : [configSchema]));
  return {
    input: tools.map(({ input }) => input),
    exact: [...tools.map(({ output }) => output), ...configs, ...(checks.length > 0 ? [VERDICT] : [])],
    usesFormats,
  };
}

/** The answer to `GET /v1/info` (D28, D29). */
export function packInfo({ index, checks }: Pack, missingEnv: readonly string[]): PackInfo {
  return {
    protocol: PROTOCOL_VERSION,
    packId: index.packId,
    packVersion: index.packVersion,
    artifactVersion: index.artifactVersion,
    indexHash: index.indexHash,
    tools: index.tools.map(({ id, version }) => (version === undefined ? { id } : { id, version })),
    checks: [...checks.keys()],
    missingEnv,
  };
}

/** Schemas that do not compile: a call of their tool is answered with `…-validation-failed`, so say it at boot as well. */
export function schemaProblems({ tools, checks }: Pack): string[] {
  const problems: string[] = [];
  const note = (what: string, checker: Checker | undefined): void => {
    if (checker?.ok === false) problems.push(`${what} does not compile: ${checker.error.message}`);
  };
  for (const tool of [...tools.values()].flat()) {
    note(`the input schema of tool ${tool.entry.id} (${tool.entry.modulePath})`, tool.input);
    note(`the output schema of tool ${tool.entry.id} (${tool.entry.modulePath})`, tool.output);
  }
  for (const check of checks.values()) {
    note(`the config schema of check ${check.entry.id} (${check.entry.modulePath})`, check.config);
  }
  return problems;
}

function exportsOf(modules: ReadonlyMap<string, Loaded>, modulePath: string): Bag {
  const loaded = modules.get(modulePath);
  if (loaded?.ok !== true) throw new Error(`module ${modulePath} is not loaded`);
  return loaded.exports;
}
