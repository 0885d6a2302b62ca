import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { compileFunction } from 'node:vm';

import type { ValidateFunction } from 'ajv/dist/2020.js';
import equal from 'ajv/dist/runtime/equal.js';
import ucs2length from 'ajv/dist/runtime/ucs2length.js';

/** What the code was made by. It changes with the compiler or the form of the file, and older files are not read then. */
export const STORED_BY = 'ajv 8.20.0, ajv-formats 3.0.1, form 1';

/** Where the compiled schemas of a pack are stored: in a file named by what it was made from. */
export interface StoredAt {
  readonly folder: string;
  /** Names each function by its schema and how it judges, in the order of the functions. */
  readonly keys: readonly string[];
  readonly usesFormats: boolean;
}

type Require = (name: string) => unknown;

/**
 * The functions that an earlier start stored; undefined when there is no such file or it is not whole. The folder is the
 * pack's own: what it could be made to hold, pack code could do as well.
 */
export async function readStored(at: StoredAt): Promise<readonly ValidateFunction[] | undefined> {
  const path = pathOf(at);
  try {
    const text = await readFile(path, 'utf8');
    const lineEnd = text.indexOf('\n');
    const code = text.slice(lineEnd + 1);
    if (text.slice(0, lineEnd) !== seal(code)) return undefined;
    const load = compileFunction(code, ['require'], { filename: path }) as (require: Require) => ValidateFunction[];
    const functions = load(await runtime(at));
    return functions.length === at.keys.length ? functions : undefined;
  } catch {
    // Not there yet in most cases; whatever else it is, compiling anew is the answer.
    return undefined;
  }
}

/** Writes the functions, each given as the text of a CommonJS module. Readers see the whole file or none. */
export async function writeStored(at: StoredAt, sources: readonly string[]): Promise<void> {
  const modules = sources.map((source) => `(function (module) {${source}\nreturn module.exports;\n})({})`);
  const code = `return [\n${modules.join(',\n')}\n];\n`;
  const path = pathOf(at);
  const temporary = `${path}.tmp-${process.pid}`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(temporary, `${seal(code)}\n${code}`);
  await rename(temporary, path);
}

function pathOf({ folder, keys, usesFormats }: StoredAt): string {
  const name = seal(JSON.stringify([STORED_BY, usesFormats, keys])).slice(0, 32);
  return join(folder, `schemas-${name}.js`);
}

/** Tells a file that was cut or changed: it is no secret. */
function seal(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The few modules that generated code refers to; anything else fails, and the code is not used. */
async function runtime({ usesFormats }: StoredAt): Promise<Require> {
  const formats: unknown = usesFormats ? (await import('ajv-formats/dist/formats.js')).default : undefined;
  const modules = new Map<string, unknown>([
    ['ajv/dist/runtime/equal', required(equal)],
    ['ajv/dist/runtime/ucs2length', required(ucs2length)],
    ['ajv-formats/dist/formats', formats],
  ]);
  return (name) => {
    const found = modules.get(name);
    if (found === undefined) throw new Error(`stored code asks for ${name}`);
    return found;
  };
}

/** What `require` gives for a CommonJS module with a `default`. An import of it gives that, or already its `default`: loaders differ. */
function required(imported: unknown): unknown {
  return typeof imported === 'function' ? { default: imported } : imported;
}
