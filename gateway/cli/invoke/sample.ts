import type { Json, JsonObject } from '../../../shared/protocol/messages.ts';
import { isObject } from './input.ts';
import { sampleText } from './sampleText.ts';

/** An input made from a schema, and where it may not fit it: what no sample can be made for is told, not guessed. */
export interface Sample {
  readonly value: Json;
  /** Each with its place: `/name: must match ^x{3}$`. */
  readonly doubts: readonly string[];
}

type Schema = JsonObject | boolean;

/** Nested deeper than this, optional parts are left out: schemas may refer to themselves. */
const MAX_OPTIONAL_DEPTH = 4;
/** And nothing at all is made below this. */
const MAX_DEPTH = 24;
const MAX_ITEMS = 100;

/** Makes an input that fits a JSON Schema (2020-12), the plainest that shows every property. Deterministic. */
export function sampleOf(schema: Schema): Sample {
  const sampler = new Sampler(schema);
  return { value: sampler.sample(schema, '', 0), doubts: sampler.doubts };
}

class Sampler {
  readonly doubts: string[] = [];
  readonly #root: Schema;

  constructor(root: Schema) {
    this.#root = root;
  }

  sample(schema: Schema, place: string, depth: number): Json {
    if (typeof schema === 'boolean') {
      if (!schema) this.#doubt(place, 'nothing is allowed here');
      return {};
    }
    if (depth > MAX_DEPTH) {
      this.#doubt(place, 'the schema has no end');
      return null;
    }
    const whole = this.#whole(schema, place, 0);
    const ready = readyMade(whole);
    if (ready !== undefined) return ready;
    for (const keyword of ['not', 'if', 'patternProperties', 'contains'] as const) {
      if (whole[keyword] !== undefined) this.#doubt(place, `"${keyword}" was not looked at`);
    }
    switch (typeOf(whole)) {
      case 'object':
        return this.#object(whole, place, depth);
      case 'array':
        return this.#array(whole, place, depth);
      case 'string':
        return this.#string(whole, place);
      case 'integer':
      case 'number':
        return this.#number(whole, place);
      case 'boolean':
        return true;
      default:
        return null;
    }
  }

  /** The schema with what it refers to, all of `allOf` and the first of `anyOf` and `oneOf` in it. */
  #whole(schema: JsonObject, place: string, hops: number): JsonObject {
    const { $ref, $dynamicRef, allOf, anyOf, oneOf, ...own } = schema;
    if (hops > MAX_DEPTH) {
      this.#doubt(place, 'it refers to itself');
      return own;
    }
    const parts: Schema[] = [];
    const reference = $ref ?? $dynamicRef;
    if (typeof reference === 'string') {
      const target = this.#resolve(reference);
      if (target === undefined) this.#doubt(place, `nothing is found for ${reference}`);
      else parts.push(target);
    }
    if (Array.isArray(allOf)) parts.push(...schemasIn(allOf as readonly Json[]));
    for (const choice of [anyOf, oneOf]) {
      const [first] = Array.isArray(choice) ? schemasIn(choice as readonly Json[]) : [];
      if (first !== undefined) parts.push(first);
    }
    return parts.reduce<JsonObject>((merged, part) => {
      return typeof part === 'boolean' ? merged : merge(merged, this.#whole(part, place, hops + 1));
    }, own);
  }

  /** Within the schema: by pointer, `#anchor`, or the `$id` of one of its definitions. */
  #resolve(reference: string): Schema | undefined {
    if (reference === '#') return this.#root;
    if (!reference.startsWith('#/')) return this.#named(reference);
    let node: unknown = this.#root;
    for (const step of reference.slice(2).split('/')) {
      const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
      node = (node as Record<string, unknown>)[key];
    }
    return isSchema(node) ? node : undefined;
  }

  #named(reference: string): Schema | undefined {
    const root = this.#root;
    const definitions = typeof root === 'boolean' ? undefined : (root.$defs ?? root.definitions);
    if (!isObject(definitions)) return undefined;
    return Object.values(definitions)
      .filter(isObject)
      .find(({ $id, $anchor, $dynamicAnchor }) => {
        return [$id, anchorText($anchor), anchorText($dynamicAnchor)].includes(reference);
      });
  }

  #object(schema: JsonObject, place: string, depth: number): Json {
    const properties = isObject(schema.properties) ? schema.properties : {};
    const required = new Set(
      Array.isArray(schema.required)
        ? (schema.required as readonly Json[]).filter((name) => typeof name === 'string')
        : [],
    );
    const names = new Set([...Object.keys(properties), ...required]);
    const entries: [string, Json][] = [];
    for (const name of names) {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const property = isSchema(own) ? own : isSchema(schema.additionalProperties) ? schema.additionalProperties : true;
      // One that is never allowed is there to say so.
      if (!required.has(name) && (property === false || depth >= MAX_OPTIONAL_DEPTH)) continue;
      entries.push([name, this.sample(property, `${place}/${name}`, depth + 1)]);
    }
    if (typeof schema.minProperties === 'number' && entries.length < schema.minProperties) {
      this.#doubt(place, `at least ${schema.minProperties} properties are asked for`);
    }
    return Object.fromEntries(entries);
  }

  #array(schema: JsonObject, place: string, depth: number): Json {
    const first = Array.isArray(schema.prefixItems) ? schemasIn(schema.prefixItems as readonly Json[]) : [];
    const rest = isSchema(schema.items) ? schema.items : true;
    const wanted = typeof schema.minItems === 'number' ? schema.minItems : depth < MAX_OPTIONAL_DEPTH ? 1 : 0;
    const most = typeof schema.maxItems === 'number' ? schema.maxItems : MAX_ITEMS;
    const count = Math.min(Math.max(wanted, first.length), most, MAX_ITEMS);
    if (count > 1 && schema.uniqueItems === true) this.#doubt(place, 'its items have to differ');
    const items: Json[] = [];
    for (let at = 0; at < count; at += 1) {
      const item = first[at] ?? rest;
      if (item === false) break;
      items.push(this.sample(item, `${place}/${at}`, depth + 1));
    }
    return items;
  }

  #string(schema: JsonObject, place: string): string {
    const { text, doubt } = sampleText(schema);
    if (doubt !== undefined) this.#doubt(place, doubt);
    return text;
  }

  #number(schema: JsonObject, place: string): number {
    const step =
      typeof schema.multipleOf === 'number' ? schema.multipleOf : typeOf(schema) === 'integer' ? 1 : undefined;
    const above = typeof schema.exclusiveMinimum === 'number' ? schema.exclusiveMinimum : undefined;
    const below = typeof schema.exclusiveMaximum === 'number' ? schema.exclusiveMaximum : undefined;
    const least = typeof schema.minimum === 'number' ? schema.minimum : undefined;
    const most = typeof schema.maximum === 'number' ? schema.maximum : undefined;
    const fits = (value: number): boolean =>
      (least === undefined || value >= least) &&
      (most === undefined || value <= most) &&
      (above === undefined || value > above) &&
      (below === undefined || value < below) &&
      (step === undefined || Number.isInteger(value / step));
    const unit = step ?? 1;
    const bounds = [least, most, above, below].filter((bound) => bound !== undefined);
    const between = bounds.length === 2 ? [((bounds[0] ?? 0) + (bounds[1] ?? 0)) / 2] : [];
    const near = bounds.flatMap((bound) => [bound, Math.ceil(bound / unit) * unit, Math.floor(bound / unit) * unit]);
    const candidates = [1, 0, ...near, ...near.flatMap((bound) => [bound + unit, bound - unit]), ...between];
    const found = candidates.find(fits);
    if (found === undefined) this.#doubt(place, 'no number was found that fits');
    return found ?? 1;
  }

  #doubt(place: string, text: string): void {
    this.doubts.push(`${place === '' ? '(the whole)' : place}: ${text}`);
  }
}

/** A value that the schema itself gives. */
function readyMade({ const: only, default: usual, examples, enum: values }: JsonObject): Json | undefined {
  if (only !== undefined) return only;
  if (usual !== undefined) return usual;
  for (const list of [examples, values]) {
    if (Array.isArray(list) && list.length > 0) return list[0] as Json;
  }
  return undefined;
}

function typeOf({ type, ...schema }: JsonObject): string {
  const named = Array.isArray(type) ? (type.find((one) => one !== 'null') ?? type[0]) : type;
  if (typeof named === 'string') return named;
  if (['properties', 'required', 'additionalProperties', 'minProperties'].some((key) => key in schema)) return 'object';
  if (['items', 'prefixItems', 'minItems', 'maxItems'].some((key) => key in schema)) return 'array';
  if (['minLength', 'maxLength', 'pattern', 'format'].some((key) => key in schema)) return 'string';
  if (['minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum'].some((key) => key in schema))
    return 'number';
  return 'object';
}

/** Both have to hold; where they speak of the same, what is in `b` says more, but for properties, which add up. */
function merge(a: JsonObject, b: JsonObject): JsonObject {
  const properties = { ...(isObject(b.properties) && b.properties), ...(isObject(a.properties) && a.properties) };
  const required = [a.required, b.required].flatMap((list) => (Array.isArray(list) ? (list as readonly Json[]) : []));
  return {
    ...b,
    ...a,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

function anchorText(anchor: Json | undefined): string | undefined {
  return typeof anchor === 'string' ? `#${anchor}` : undefined;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isObject(value);
}

function schemasIn(list: readonly Json[]): Schema[] {
  return list.filter(isSchema);
}
