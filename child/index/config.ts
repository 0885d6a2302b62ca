import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { isBag, unwrap } from '../modules/exports.ts';
import type { Bag } from '../modules/exports.ts';
import type { Loaded } from '../modules/load.ts';
import { describeThrown } from '../cause.ts';
import { compare } from './discover.ts';
import type { Patterns } from './discover.ts';
import { PackError } from './errors.ts';
import { KINDS, pluralOf } from './kind.ts';

/** What the indexer reads of a pack's configuration (E22). */
export interface PackConfig {
  readonly id: string;
  readonly version: string;
  readonly discovery: Patterns;
  /** Sorted; undefined when the pack declares no name (E2). */
  readonly env: { readonly optional: readonly string[]; readonly required: readonly string[] } | undefined;
}

const NAMES = ['ts', 'mts', 'mjs', 'js', 'cjs'].map((end) => `kindgi.config.${end}`);

/** Finds a pack's configuration, loads it with `load` and judges it. Throws a `PackError`. */
export async function readConfig(
  { packDir, config }: { packDir: string; config: string | undefined },
  load: (path: string) => Promise<Loaded>,
): Promise<PackConfig> {
  const path = config ?? findConfig(packDir);
  const name = basename(path);
  if (!existsSync(path)) throw new PackError('config-not-found', `There is no ${path}`, { filePath: path });
  if (name.endsWith('.toml')) return judge(await readToml(path), name);
  if (name.endsWith('.json')) throw notNode(name, 'kindgi.config.json belongs to packs that run on a JVM');
  const loaded = await load(path);
  if (!loaded.ok) {
    const { text } = describeThrown(loaded.error, packDir);
    throw new PackError('config-parse-failed', `Cannot load ${name}: ${text}`, { filePath: name, cause: loaded.error });
  }
  const value = unwrap(loaded.exports.default);
  if (!isBag(value)) {
    throw new PackError('config-parse-failed', `${name} must export its configuration as default`, { filePath: name });
  }
  return judge(value, name);
}

/** The first configuration by the protocol's order (E21). */
function findConfig(packDir: string): string {
  const code = NAMES.find((name) => existsSync(join(packDir, name)));
  const json = existsSync(join(packDir, 'kindgi.config.json')) ? 'kindgi.config.json' : undefined;
  if (code !== undefined && json !== undefined) {
    const message = `Expected one configuration, found two: ${code} and ${json}; remove one`;
    throw new PackError('config-invalid', message, { filePath: json });
  }
  const name = code ?? json ?? (existsSync(join(packDir, 'pyproject.toml')) ? 'pyproject.toml' : undefined);
  if (name !== undefined) return join(packDir, name);
  const message = `No kindgi.config.{ts,mts,mjs,js,cjs} in ${packDir}; write one: export default { pack: { id, version } }`;
  throw new PackError('config-not-found', message);
}

/** The `[tool.kindgi]` table: a Python pack, unless its `language` says otherwise. */
async function readToml(path: string): Promise<Bag> {
  const name = basename(path);
  const { parse } = await import('smol-toml');
  let document: Bag;
  try {
    document = parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PackError('config-parse-failed', `Cannot read ${name}: ${why}`, { filePath: name, cause });
  }
  const table = isBag(document.tool) ? document.tool.kindgi : undefined;
  if (!isBag(table)) throw new PackError('config-not-found', `${name} has no [tool.kindgi] table`, { filePath: name });
  return { language: 'python', ...table };
}

function judge(config: Bag, name: string): PackConfig {
  const { pack, language = 'node' } = config;
  if (language !== 'node') {
    if (['python', 'java', 'scala'].includes(String(language)))
      throw notNode(name, `its language is ${String(language)}`);
    throw invalid(name, 'language', 'to be "node" or "python"', language);
  }
  if (!isBag(pack)) throw invalid(name, 'pack', 'to be an object with `id` and `version`', pack);
  return {
    id: text(name, 'pack.id', pack.id),
    version: text(name, 'pack.version', pack.version),
    discovery: patterns(name, config.discovery),
    env: declaredEnv(name, config.env),
  };
}

function patterns(name: string, discovery: unknown): Patterns {
  if (discovery === undefined) return {};
  if (!isBag(discovery)) throw invalid(name, 'discovery', 'to be an object of glob patterns', discovery);
  const found: Record<string, string> = {};
  for (const folder of KINDS.map(pluralOf)) {
    const pattern = discovery[folder];
    if (pattern !== undefined) found[folder] = text(name, `discovery.${folder}`, pattern);
  }
  return found;
}

/** The pack's declared variables, all problems at once (E2, E19). */
function declaredEnv(name: string, env: unknown): PackConfig['env'] {
  if (env === undefined) return undefined;
  const problems: string[] = [];
  if (!isBag(env)) problems.push(expected('env', 'to be an object with `required` and `optional`', env));
  const names = (key: 'required' | 'optional'): string[] => {
    const list = isBag(env) ? (env[key] ?? []) : [];
    if (!Array.isArray(list)) {
      problems.push(expected(`env.${key}`, 'to be a list of names', list));
      return [];
    }
    const valid: string[] = [];
    for (const item of list as unknown[]) {
      if (typeof item !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(item)) {
        problems.push(expected(`env.${key}`, 'to hold names of letters, digits and `_`', item));
      } else if (item.startsWith('KINDGI_'))
        problems.push(`\`env.${key}\`: names with KINDGI_ are the service's own: ${item}`);
      else if (valid.includes(item)) problems.push(`\`env.${key}\` has ${item} twice`);
      else valid.push(item);
    }
    return valid.sort(compare);
  };
  const required = names('required');
  const optional = names('optional');
  for (const both of required.filter((item) => optional.includes(item))) {
    problems.push(`${both} cannot be required and optional`);
  }
  if (problems.length > 0) {
    throw new PackError('config-invalid', `${name}: ${problems.join('; ')}`, { filePath: name, field: 'env' });
  }
  return required.length + optional.length > 0 ? { optional, required } : undefined;
}

function text(name: string, field: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(name, field, 'to be a non-empty text', value);
}

function invalid(name: string, field: string, wanted: string, found: unknown): PackError {
  return new PackError('config-parse-failed', `${name}: ${expected(field, wanted, found)}`, { filePath: name, field });
}

function expected(field: string, wanted: string, found: unknown): string {
  return `expected \`${field}\` ${wanted}, got ${found === undefined ? 'nothing' : (JSON.stringify(found) ?? typeof found)}`;
}

function notNode(name: string, why: string): PackError {
  return new PackError('language-mismatch', `${name} is not of a Node pack: ${why}`, {
    filePath: name,
    field: 'language',
  });
}
