import { existsSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

import { isBag, unwrap } from '../modules/exports.ts';
import type { Bag } from '../modules/exports.ts';
import type { Loaded } from '../modules/load.ts';
import { describeLoadFailure } from '../loadFailure.ts';
import { PackError } from './errors.ts';
import { judgeConfig, notNode } from './judgeConfig.ts';
import type { PackConfig } from './judgeConfig.ts';

const NAMES = ['ts', 'mts', 'mjs', 'js', 'cjs'].map((end) => `kindgi.config.${end}`);
const NAMES_TEXT = 'kindgi.config.{ts,mts,mjs,js,cjs}';
const WRITE_ONE = 'write one: export default { pack: { id, version } }';

/** Finds a pack's configuration, loads it with `load` and judges it. Throws a `PackError`. */
export async function readConfig(
  { packDir, config }: { packDir: string; config: string | undefined },
  load: (path: string) => Promise<Loaded>,
): Promise<PackConfig> {
  const path = config ?? findConfig(packDir);
  const name = basename(path);
  if (!existsSync(path)) throw new PackError('config-not-found', `There is no ${path}`, { filePath: path });
  if (name.endsWith('.toml')) return judgeConfig(await readToml(path), name);
  if (name.endsWith('.json')) throw notNode(name, 'kindgi.config.json belongs to packs that run on a JVM');
  const loaded = await load(path);
  if (!loaded.ok) {
    const { text } = describeLoadFailure(loaded.error, { root: packDir, path: relative(packDir, path) });
    throw new PackError('config-parse-failed', `Cannot load ${text}`, { filePath: name, cause: loaded.error });
  }
  const value = unwrap(loaded.exports.default);
  if (!isBag(value)) {
    throw new PackError('config-parse-failed', `${name} exports no object as default; ${WRITE_ONE}`, {
      filePath: name,
    });
  }
  return judgeConfig(value, name);
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
  throw new PackError('config-not-found', `No ${NAMES_TEXT} in ${packDir}; ${WRITE_ONE}`);
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
  if (!isBag(table)) {
    const message = `No ${NAMES_TEXT}, and ${name} has no [tool.kindgi] table; ${WRITE_ONE}`;
    throw new PackError('config-not-found', message, { filePath: name });
  }
  return { language: 'python', ...table };
}
