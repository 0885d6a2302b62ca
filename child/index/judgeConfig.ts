import { isBag } from '../modules/exports.ts';
import type { Bag } from '../modules/exports.ts';
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

/** Judges a configuration's keys (E22, E2). Throws a `PackError` with all that is wrong with them. */
export function judgeConfig(config: Bag, name: string): PackConfig {
  const { pack, discovery, language = 'node' } = config;
  if (['python', 'java', 'scala'].includes(String(language))) {
    throw notNode(name, `its language is ${String(language)}`);
  }
  const problems = new Problems();
  if (language !== 'node') problems.expected('language', 'to be "node" or "python"', language);
  if (!isBag(pack)) problems.expected('pack', 'to be an object with `id` and `version`', pack);
  if (discovery !== undefined && !isBag(discovery)) {
    problems.expected('discovery', 'to be an object of glob patterns', discovery);
  }
  const judged = {
    id: isBag(pack) ? problems.text('pack.id', pack.id) : '',
    version: isBag(pack) ? problems.text('pack.version', pack.version) : '',
    discovery: isBag(discovery) ? patterns(discovery, problems) : {},
  };
  const shape = problems.list.length;
  const env = declaredEnv(config.env, problems);
  const [first] = problems.list;
  if (first === undefined) return { ...judged, env };
  const message = `${name}: ${problems.list.map(({ text }) => text).join('; ')}`;
  throw new PackError(shape > 0 ? 'config-parse-failed' : 'config-invalid', message, {
    filePath: name,
    field: shape > 0 ? first.field : 'env',
  });
}

function patterns(discovery: Bag, problems: Problems): Patterns {
  const found: Record<string, string> = {};
  for (const folder of KINDS.map(pluralOf)) {
    const pattern = discovery[folder];
    if (pattern === undefined) continue;
    const text = problems.text(`discovery.${folder}`, pattern);
    // What lies elsewhere would have no module path (E7).
    if (text.startsWith('/') || text.split('/').includes('..')) {
      problems.expected(`discovery.${folder}`, "to stay in the pack's folder", text);
    }
    found[folder] = text;
  }
  return found;
}

/** The pack's declared variables (E2). */
function declaredEnv(env: unknown, problems: Problems): PackConfig['env'] {
  if (env === undefined) return undefined;
  if (!isBag(env)) problems.expected('env', 'to be an object with `required` and `optional`', env);
  const names = (key: 'required' | 'optional'): string[] => {
    const list = isBag(env) ? (env[key] ?? []) : [];
    if (!Array.isArray(list)) problems.expected(`env.${key}`, 'to be a list of names', list);
    const valid: string[] = [];
    for (const item of Array.isArray(list) ? (list as unknown[]) : []) {
      if (typeof item !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(item)) {
        problems.expected(`env.${key}`, 'to hold names of letters, digits and `_`', item);
      } else if (item.startsWith('KINDGI_')) {
        problems.add('env', `\`env.${key}\`: names with KINDGI_ are the service's own: ${item}`);
      } else if (valid.includes(item)) problems.add('env', `\`env.${key}\` has ${item} twice`);
      else valid.push(item);
    }
    return valid.sort(compare);
  };
  const required = names('required');
  const optional = names('optional');
  for (const both of required.filter((item) => optional.includes(item))) {
    problems.add('env', `${both} cannot be required and optional`);
  }
  return required.length + optional.length > 0 ? { optional, required } : undefined;
}

/** What is wrong with a configuration, in its order. */
class Problems {
  readonly list: { readonly field: string; readonly text: string }[] = [];

  add(field: string, text: string): void {
    this.list.push({ field, text });
  }

  expected(field: string, wanted: string, found: unknown): void {
    const shown = found === undefined ? 'nothing' : (JSON.stringify(found) ?? typeof found);
    this.add(field, `expected \`${field}\` ${wanted}, got ${shown}`);
  }

  /** The value where it is a text that says something. */
  text(field: string, value: unknown): string {
    if (typeof value === 'string' && value !== '') return value;
    this.expected(field, 'to be a non-empty text', value);
    return '';
  }
}

/** The pack is of another language: another indexer's. */
export function notNode(name: string, why: string): PackError {
  return new PackError('language-mismatch', `${name} is not of a Node pack: ${why}`, {
    filePath: name,
    field: 'language',
  });
}
