import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { isBag } from '../modules/exports.ts';

type ToJsonSchema = (schema: unknown, options: { io: 'input' | 'output' }) => unknown;

/** Whether a value is a Zod 4 schema (F5). */
export function isZod(value: unknown): boolean {
  return isBag(value) && '_zod' in value && '~standard' in value;
}

/** Whether a value is a schema of another library, which cannot be converted: Zod 3, Valibot and their like. */
export function isForeignModel(value: unknown): boolean {
  return isBag(value) && '~standard' in value && !('_zod' in value);
}

/**
 * A Zod schema as JSON Schema, converted by the Zod that `files` would import, the first of them that finds one: on the
 * input side a field with a default is optional, on the output side it is there (F3). Throws with Zod's reason for what
 * JSON Schema cannot express (F5).
 */
export async function zodToJsonSchema(
  schema: unknown,
  io: 'input' | 'output',
  files: readonly string[],
): Promise<unknown> {
  const convert = await findConverter(files);
  return JSON.parse(JSON.stringify(convert(schema, { io }))) as unknown;
}

const converters = new Map<string, Promise<ToJsonSchema>>();

/** `toJSONSchema` of the pack's own Zod; of ours for a pack that brings its Zod inside of its bundles. */
function findConverter(files: readonly string[]): Promise<ToJsonSchema> {
  const entry = [...files, fileURLToPath(import.meta.url)].map((file) => findZod(dirname(file))).find(Boolean);
  if (entry === undefined) throw new Error('zod is not installed where the pack could import it: npm install zod@4');
  const known = converters.get(entry);
  if (known !== undefined) return known;
  const converter = import(pathToFileURL(entry).href).then((zod: Record<string, unknown>) => {
    if (typeof zod.toJSONSchema === 'function') return zod.toJSONSchema as ToJsonSchema;
    throw new Error(`${entry} has no toJSONSchema: Zod 4 is needed`);
  });
  converters.set(entry, converter);
  return converter;
}

/** The ES module entry of the nearest `node_modules/zod`, as an import from `folder` would find it. */
function findZod(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const root = join(at, 'node_modules', 'zod');
    const manifest = join(root, 'package.json');
    if (existsSync(manifest)) {
      const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports?: Record<string, unknown> };
      return join(root, importTarget(exports?.['.']) ?? 'index.js');
    }
    if (at === dirname(at)) return undefined;
  }
}

function importTarget(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  return isBag(target) ? importTarget(target.import ?? target.default) : undefined;
}
