import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import type { RuntimeSettings } from './configuration.ts';
import { readText } from './files.ts';

/** A pack's own configuration, looked up at its root; the first wins (E21). Never imported: it is code. */
const NODE_CONFIGS = [
  'kindgi.config.ts',
  'kindgi.config.mts',
  'kindgi.config.mjs',
  'kindgi.config.js',
  'kindgi.config.cjs',
];
const JVM_CONFIG = 'kindgi.config.json';
const PYTHON_CONFIG = 'pyproject.toml';
const MAX_TOML_BYTES = 1024 * 1024;

/** The runtime that a pack is written for, or what was found instead; completes "got …". */
export type Detected = { readonly kind: RuntimeSettings['kind'] } | { readonly trouble: string };

export async function detectRuntime(folder: string): Promise<Detected> {
  const names = new Set(await readdir(folder).catch((): string[] => []));
  if (NODE_CONFIGS.some((name) => names.has(name))) return { kind: 'node' };
  if (names.has(PYTHON_CONFIG)) return detectPython(join(folder, PYTHON_CONFIG));
  if (names.has(JVM_CONFIG)) return { trouble: `only a ${JVM_CONFIG}, that of a JVM pack` };
  return { trouble: 'neither' };
}

async function detectPython(file: string): Promise<Detected> {
  const found = await readText(file, MAX_TOML_BYTES);
  if ('trouble' in found) return { trouble: `a ${PYTHON_CONFIG} that cannot be read: ${found.trouble}` };
  let project: Record<string, unknown>;
  try {
    project = parse(found.text, { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    const line = (error as { line?: unknown }).line;
    return {
      trouble: `a ${PYTHON_CONFIG} that is not valid TOML${typeof line === 'number' ? ` in line ${line}` : ''}`,
    };
  }
  const table = ownTable(ownTable(project, 'tool'), 'kindgi');
  if (table === undefined) return { trouble: `a ${PYTHON_CONFIG} without [tool.kindgi]` };
  const { language = 'python' } = table;
  if (language === 'python') return { kind: 'python' };
  return { trouble: `a ${PYTHON_CONFIG} that names another language` };
}

function ownTable(table: Record<string, unknown> | undefined, key: string): Record<string, unknown> | undefined {
  const value = table !== undefined && Object.hasOwn(table, key) ? table[key] : undefined;
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}
