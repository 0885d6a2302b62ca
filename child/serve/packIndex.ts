import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { isDeeperThan } from '../../shared/protocol/jsonText.ts';
import { MAX_JSON_DEPTH } from '../../shared/protocol/limits.ts';
import type { Schema } from '../schemas.ts';
import type { DeclaredEnv } from './environment.ts';

export interface ToolEntry {
  readonly id: string;
  readonly version: string | undefined;
  readonly input: Schema;
  readonly output: Schema;
  readonly modulePath: string;
  /** The tool stores or reads files, so its handler gets what it takes for it (D35). */
  readonly storesFiles: boolean;
  readonly readsFiles: boolean;
}

export interface CheckEntry {
  /** What callers name: the guardrail's `checkId`, else its own id (D23). */
  readonly id: string;
  readonly configSchema: Schema | undefined;
  readonly modulePath: string;
  /** The guardrail only names a check that the runtime brings; it cannot be called here (D27). */
  readonly isBuiltIn: boolean;
}

/** What a pack service needs of an index file. Unknown keys are nobody's business (E9). */
export interface PackIndex {
  readonly packId: string;
  readonly packVersion: string;
  readonly artifactVersion: string;
  /** `sha256:` and the hash of the file's bytes as read (D29). */
  readonly indexHash: string;
  readonly tools: readonly ToolEntry[];
  readonly checks: readonly CheckEntry[];
  readonly env: DeclaredEnv;
  /** Whether any schema may use `format`; without one the formats need not be loaded. */
  readonly usesFormats: boolean;
}

/** Reads an index file. Every problem in it is found; each names the place in the file. */
export async function readPackIndex(path: string): Promise<{ index: PackIndex } | { problems: string[] }> {
  let bytes: Buffer;
  let value: unknown;
  try {
    bytes = await readFile(path);
  } catch (error) {
    return { problems: [`Cannot read the pack index ${path}: ${reason(error)}; index the pack first`] };
  }
  if (isDeeperThan(bytes, MAX_JSON_DEPTH)) {
    return { problems: [`Cannot read the pack index ${path}: it is nested deeper than ${MAX_JSON_DEPTH}`] };
  }
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    return { problems: [`Cannot read the pack index ${path}: it is not JSON: ${reason(error)}`] };
  }
  if (!isObject(value)) return { problems: [`Cannot read the pack index ${path}: expected an object at its top`] };
  if (value.v !== 1) {
    const found = JSON.stringify(value.v) ?? 'none';
    return { problems: [`The pack index ${path} has envelope version ${found}; this service reads version 1`] };
  }
  const reader = new Reader();
  const index = reader.index(value, bytes);
  const problems = reader.problems.map((problem) => `Cannot read the pack index ${path}: ${problem}`);
  return problems.length > 0 ? { problems } : { index };
}

class Reader {
  readonly problems: string[] = [];

  index(value: Record<string, unknown>, bytes: Buffer): PackIndex {
    const index: PackIndex = {
      packId: this.text(value, 'packId', 'packId'),
      packVersion: this.text(value, 'packVersion', 'packVersion'),
      artifactVersion: this.headerText(value, 'artifactVersion'),
      indexHash: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
      tools: this.list(value, 'tools').map((entry, at) => this.tool(entry, `tools[${at}]`)),
      checks: this.list(value, 'guardrails').map((entry, at) => this.check(entry, `guardrails[${at}]`)),
      env: this.env(value.env),
      usesFormats: bytes.includes('"format"'),
    };
    this.refuseDuplicates(index.tools);
    return index;
  }

  tool(entry: Record<string, unknown>, at: string): ToolEntry {
    const { version } = entry;
    if (version !== undefined && typeof version !== 'string') this.expected(`${at}.version`, 'a string', version);
    return {
      id: this.text(entry, 'id', `${at}.id`),
      version: typeof version === 'string' ? version : undefined,
      input: this.schema(entry.input, `${at}.input`),
      output: this.schema(entry.output, `${at}.output`),
      modulePath: this.text(entry, 'modulePath', `${at}.modulePath`),
      storesFiles: this.flag(entry, 'storesFiles', at),
      readsFiles: this.flag(entry, 'readsFiles', at),
    };
  }

  flag(entry: Record<string, unknown>, key: string, at: string): boolean {
    const value = entry[key];
    if (value !== undefined && typeof value !== 'boolean') this.expected(`${at}.${key}`, 'true or false', value);
    return value === true;
  }

  check(entry: Record<string, unknown>, at: string): CheckEntry {
    const id = this.text(entry, 'id', `${at}.id`);
    return {
      id: typeof entry.checkId === 'string' && entry.checkId !== '' ? entry.checkId : id,
      configSchema:
        entry.configSchema === undefined ? undefined : this.schema(entry.configSchema, `${at}.configSchema`),
      modulePath: this.text(entry, 'checkModulePath', `${at}.checkModulePath`),
      isBuiltIn: entry.checkBuiltIn === true,
    };
  }

  env(value: unknown): DeclaredEnv {
    if (value === undefined) return { required: [], optional: [] };
    if (!isObject(value)) this.expected('env', 'an object', value);
    const names = isObject(value) ? value : {};
    return {
      required: this.names(names.required, 'env.required'),
      optional: this.names(names.optional, 'env.optional'),
    };
  }

  names(value: unknown, at: string): string[] {
    if (value === undefined) return [];
    if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
    this.expected(at, 'a list of names', value);
    return [];
  }

  list(value: Record<string, unknown>, key: string): Record<string, unknown>[] {
    const list = value[key];
    if (Array.isArray(list) && list.every(isObject)) return list;
    this.expected(key, 'a list of objects', list);
    return [];
  }

  text(value: Record<string, unknown>, key: string, at: string): string {
    const text = value[key];
    if (typeof text === 'string' && text !== '') return text;
    this.expected(at, 'a text', text);
    return '';
  }

  /** It travels in a header of every answer (A11). */
  headerText(value: Record<string, unknown>, key: string): string {
    const text = this.text(value, key, key);
    if (!/^[\x20-\x7e]*$/.test(text)) this.expected(key, 'printable ASCII', text);
    return text;
  }

  schema(value: unknown, at: string): Schema {
    if (typeof value === 'boolean' || isObject(value)) return value;
    this.expected(at, 'a JSON Schema', value);
    return true;
  }

  expected(at: string, expected: string, found: unknown): void {
    const shown = found === undefined ? 'nothing' : JSON.stringify(found).slice(0, 60);
    this.problems.push(`expected \`${at}\` to be ${expected}, got ${shown}`);
  }

  refuseDuplicates(tools: readonly ToolEntry[]): void {
    const seen = new Set<string>();
    for (const { id, version } of tools) {
      const key = JSON.stringify([id, version]);
      if (seen.has(key) && id !== '') this.problems.push(`tool ${id}${version ? `@${version}` : ''} is in it twice`);
      seen.add(key);
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
