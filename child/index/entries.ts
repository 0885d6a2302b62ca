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
export class ConversionError extends Error {
  readonly field: string;

  constructor(field: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.field = field;
  }
}

/** The index entry of a primitive, not yet judged. `file` is its absolute path, `modulePath` its path in the index. */
export async function buildEntry(
  kind: Kind,
  value: Bag,
  { file, modulePath }: { file: string; modulePath: string },
): Promise<Record<string, unknown>> {
  const entry: Record<string, unknown> = {};
  for (const key of COPIED[kind]) {
    if (value[key] !== undefined) entry[key] = value[key];
  }
  switch (kind) {
    case 'tool':
      entry.modulePath = modulePath;
      entry.input = await toSchema(value.inputZod ?? value.input, 'input', file);
      entry.output = await toSchema(value.outputZod ?? value.output, 'output', file);
      break;
    case 'guardrail':
      entry.checkModulePath = modulePath;
      await addCheck(entry, value, file);
      break;
    case 'flow':
      entry.modulePath = modulePath;
      entry.kernelPayloadVersion = 1;
      break;
    case 'agent':
      entry.modulePath = modulePath;
      break;
  }
  return entry;
}

/** A guardrail's check: what it is called, whether the runtime brings it, and the schema of its config (F4). */
async function addCheck(entry: Record<string, unknown>, value: Bag, file: string): Promise<void> {
  const check = isBag(value.check) ? value.check : {};
  const checkId = typeof value.check === 'string' ? value.check : check.id;
  if (checkId !== undefined) entry.checkId = checkId;
  if (typeof value.check === 'string' && BUILT_IN_CHECKS.has(value.check)) entry.checkBuiltIn = true;
  const schemas = [value.configZod, check.configZod, value.configSchema, check.configSchema, check.configJsonSchema];
  const schema = schemas.find((candidate) => candidate !== undefined);
  // A check's config is what somebody writes down: the input side.
  if (schema !== undefined) entry.configSchema = await toSchema(schema, 'input', file, 'configSchema');
}

/** Zod is converted, JSON Schema is copied (F3). */
async function toSchema(value: unknown, io: 'input' | 'output', file: string, field: string = io): Promise<unknown> {
  try {
    if (isForeignModel(value)) throw new Error('it is a model, but not one of Zod 4: use Zod 4 or a JSON Schema');
    return isZod(value) ? await zodToJsonSchema(value, io, file) : value;
  } catch (error) {
    throw new ConversionError(field, error);
  }
}

function words(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}
