import { BUILT_IN_CHECKS } from '../../shared/protocol/indexSchema.ts';
import { isBag } from '../modules/exports.ts';
import type { Bag } from '../modules/exports.ts';
import type { Kind } from './kind.ts';
import { isForeignModel, isZod, zodToJsonSchema } from './zod.ts';

/** What an entry takes over from its primitive as it is, only where it is declared (E3–E6). */
const COPIED: Readonly<Record<Kind, readonly string[]>> = {
  tool: words(
    'id description version effects needs needsSpec sandbox limits network mutating needsApprovalWhenUnattended spec',
    'pauses storesFiles readsFiles',
  ),
  guardrail: words('id name kind action severity scope config sandbox limits network'),
  agent: words(
    'id version name instructions capabilities tools retrieval guardrails settings modelSettings budget parameters',
    'preferredProvider preferredModel description tags conversationPolicy output toolErrors memory',
  ),
  flow: words('id version name description nodes edges maxParallelism metadata output'),
};

/** A schema of a primitive that could not become JSON Schema. */
export interface Misfit {
  /** The field of the entry that lacks it. */
  readonly key: string;
  /** The field of the primitive, as its author wrote it. */
  readonly field: string;
  readonly why: string;
}

/**
 * The index entry of a primitive, not yet judged, and which of its schemas could not be converted. `files` are where it
 * was loaded from and where its source lies, `modulePath` is its path in the index.
 */
export async function buildEntry(
  kind: Kind,
  value: Bag,
  { files, modulePath }: { files: readonly string[]; modulePath: string },
): Promise<{ readonly entry: Bag; readonly misfits: readonly Misfit[] }> {
  const entry: Record<string, unknown> = {};
  const misfits: Misfit[] = [];
  for (const key of COPIED[kind]) {
    if (value[key] !== undefined) entry[key] = value[key];
  }
  /** Puts the first schema that is there into the entry: Zod converted, JSON Schema as it is (F3). */
  const addSchema = async (key: string, io: 'input' | 'output', places: readonly Place[]): Promise<void> => {
    const place = places.find(isUsable) ?? places.find(({ schema }) => schema !== undefined);
    if (place === undefined) return;
    const converted = await toJsonSchema(place.schema, io, files);
    if ('why' in converted) {
      misfits.push({ key, field: place.field, why: `\`${place.field}\` cannot become JSON Schema: ${converted.why}` });
    } else entry[key] = converted.schema;
  };
  entry[kind === 'guardrail' ? 'checkModulePath' : 'modulePath'] = modulePath;
  switch (kind) {
    case 'tool':
      await addSchema('input', 'input', placesOf(value, 'inputZod', 'input'));
      await addSchema('output', 'output', placesOf(value, 'outputZod', 'output'));
      break;
    case 'guardrail':
      addCheck(entry, value);
      // A check's config is what somebody writes down: the input side.
      await addSchema('configSchema', 'input', configPlaces(value));
      break;
    case 'flow':
      entry.kernelPayloadVersion = 1;
      break;
    case 'agent':
      break;
  }
  return { entry, misfits };
}

/** What a guardrail's check is called, and whether the runtime brings it (E4, E8). */
function addCheck(entry: Record<string, unknown>, value: Bag): void {
  const checkId = typeof value.check === 'string' ? value.check : isBag(value.check) ? value.check.id : undefined;
  if (checkId !== undefined) entry.checkId = checkId;
  // Without a check of its own a guardrail may be named like the built-in it means.
  if (BUILT_IN_CHECKS.has(String(checkId ?? value.id))) entry.checkBuiltIn = true;
}

/** Where a schema may stand. */
interface Place {
  readonly field: string;
  readonly schema: unknown;
}

/** A field for Zod that holds something else does not count where there is another (F3). */
function isUsable({ field, schema }: Place): boolean {
  return schema !== undefined && (isZod(schema) || !field.endsWith('Zod'));
}

function placesOf(value: Bag, ...fields: readonly string[]): Place[] {
  return fields.map((field) => ({ field, schema: value[field] }));
}

/** In the order in which they count (F4). */
function configPlaces(value: Bag): Place[] {
  const check = isBag(value.check) ? value.check : {};
  const ofCheck = (...fields: readonly string[]): Place[] =>
    placesOf(check, ...fields).map(({ field, schema }) => ({ field: `check.${field}`, schema }));
  const [ownZod, ownSchema] = placesOf(value, 'configZod', 'configSchema');
  const [checkZod, ...checkSchemas] = ofCheck('configZod', 'configSchema', 'configJsonSchema');
  return [ownZod, checkZod, ownSchema, ...checkSchemas].filter((place) => place !== undefined);
}

async function toJsonSchema(
  value: unknown,
  io: 'input' | 'output',
  files: readonly string[],
): Promise<{ readonly schema: unknown } | { readonly why: string }> {
  if (isForeignModel(value)) return { why: 'it is a model, but not one of Zod 4: use Zod 4 or a JSON Schema' };
  if (!isZod(value)) return { schema: value };
  try {
    return { schema: await zodToJsonSchema(value, io, files) };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

function words(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}
