import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';

import type { Judging, Schema } from '../schemas.ts';
import type { Compiled } from './checker.ts';
import { refersOutside } from './references.ts';

export interface CompilerOptions {
  /** Whether `format` is judged, which loads the formats. */
  readonly usesFormats: boolean;
  /** Whether the code of what is compiled can be had afterwards. */
  readonly keepsSource: boolean;
}

type AddFormats = (ajv: Ajv2020) => void;

/**
 * Compiles schemas as draft 2020-12, leniently: unknown keywords and formats are ignored, because packs indexed
 * elsewhere must run (F12). Patterns run in V8: they can only stall their own pack's process.
 */
export class Compiler {
  readonly #options: CompilerOptions;
  readonly #addFormats: AddFormats | undefined;
  readonly #shared = new Map<string, Ajv2020>();
  readonly #makers = new WeakMap<ValidateFunction, Ajv2020>();

  private constructor(options: CompilerOptions, addFormats: AddFormats | undefined) {
    this.#options = options;
    this.#addFormats = addFormats;
  }

  static async create(options: CompilerOptions): Promise<Compiler> {
    return new Compiler(options, options.usesFormats ? await loadFormats() : undefined);
  }

  compile(schema: Schema, judging: Judging): Compiled {
    const ajv = this.#ajvFor(schema, judging);
    let validate: ValidateFunction;
    try {
      validate = ajv.compile(schema as object);
    } catch (error) {
      // It keeps the half-made function and would give it out when the same schema is asked for again.
      this.#shared.clear();
      return error instanceof Error ? error : new Error(String(error));
    }
    if ('$async' in validate) return new Error('`$async` is no keyword of JSON Schema');
    this.#makers.set(validate, ajv);
    return validate;
  }

  /** The compiled function as the text of a CommonJS module. Throws when it was compiled without `keepsSource`. */
  async sourceOf(validate: ValidateFunction): Promise<string> {
    const ajv = this.#makers.get(validate);
    if (ajv === undefined) throw new Error('the function is not of this compiler');
    const { default: standalone } = await import('ajv/dist/standalone/index.js');
    return standalone.default(ajv, validate);
  }

  #ajvFor(schema: Schema, judging: Judging): Ajv2020 {
    const fillsDefaults = judging === 'input';
    const needsMeta = refersOutside(JSON.stringify(schema));
    // An `$id` may occur once per Ajv, but several tools of a pack may well share a model.
    if (hasId(schema)) return this.#create({ fillsDefaults, needsMeta });
    const key = JSON.stringify([fillsDefaults, needsMeta]);
    const known = this.#shared.get(key) ?? this.#create({ fillsDefaults, needsMeta });
    this.#shared.set(key, known);
    return known;
  }

  #create({ fillsDefaults, needsMeta }: { fillsDefaults: boolean; needsMeta: boolean }): Ajv2020 {
    // The meta-schema is not applied, which would cost 60 ms at boot: a schema that is wrong does not compile. It is not
    // even read, for 13 ms, unless a schema may want to refer to it.
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      useDefaults: fillsDefaults,
      logger: false,
      meta: needsMeta,
      validateFormats: this.#options.usesFormats,
      validateSchema: false,
      // The one being compiled is what `#` refers to, so a schema has to be known to its Ajv.
      addUsedSchema: true,
      // Its optimiser costs more of a start than what it saves calls: 15 of 65 ms for twelve schemas.
      code: { source: this.#options.keepsSource, optimize: false },
    });
    this.#addFormats?.(ajv);
    return ajv;
  }
}

function hasId(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  if (!Array.isArray(schema) && '$id' in schema) return true;
  return Object.values(schema).some(hasId);
}

async function loadFormats(): Promise<AddFormats> {
  const { default: formats } = await import('ajv-formats');
  return (ajv) => void formats.default(ajv);
}
