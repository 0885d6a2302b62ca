import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { describe } from './describe.ts';
import { nearest } from './nearest.ts';
import type { Path } from './problem.ts';
import type { RawConfiguration, RawTenant } from './raw.ts';
import type { Report } from './report.ts';
import { CONFIGURATION_SCHEMA, TENANT_SCHEMA } from './schema.ts';
import type { Schema } from './schema.ts';
import { SETTINGS } from './settingsSchema.ts';
import { UNSUPPORTED } from './unsupported.ts';

// Checking the schema itself would take longer than everything else here; a test does it.
const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  strict: true,
  strictRequired: false,
  meta: false,
  validateSchema: false,
});
ajv.addVocabulary(['expected', 'secret']);
const validateAll = ajv.compile(CONFIGURATION_SCHEMA);
const validateTenant = ajv.compile(TENANT_SCHEMA);

/**
 * Holds `value` against the schema. Everything that does not fit is reported and then taken out of `value` (which is
 * changed), so that the rest can be judged further in the same go. Undefined where nothing is left.
 */
export function judge(value: unknown, report: Report): RawConfiguration | undefined {
  return fitting(value, validateAll, [], report);
}

/** The same for the file of one tenant. Undefined where it is nothing like a tenant. */
export function judgeTenant(value: unknown, id: string, report: Report): RawTenant | undefined {
  return fitting(value, validateTenant, ['tenants', id], report);
}

/** What of `value` fits. `prefix` leads from the top of the configuration to it. */
function fitting(value: unknown, validate: ValidateFunction, prefix: Path, report: Report): object | undefined {
  if (validate(value)) return value as object;
  const wrongPlaces: Path[] = [];
  const withUnknownKeys = new Set<string>();
  // Of alternatives only the whole is reported, and of a key that is wrong only that the mapping may not have it.
  const errors = (validate.errors ?? []).filter(
    ({ schemaPath, propertyName }) => !/\/(?:anyOf|oneOf)\//.test(schemaPath) && propertyName === undefined,
  );
  for (const error of errors) {
    if (error.keyword !== 'additionalProperties') continue;
    withUnknownKeys.add(error.instancePath);
    wrongPlaces.push(reportUnknownKey(error, value, prefix, report));
  }
  for (const error of errors) {
    if (error.keyword === 'additionalProperties') continue;
    // The alternatives are about which keys are there; the unknown one is probably one of them.
    if (error.keyword === 'oneOf' && withUnknownKeys.has(error.instancePath)) continue;
    const path = reportMismatch(error, value, prefix, report);
    if (path !== undefined) wrongPlaces.push(path);
  }
  for (const path of wrongPlaces) {
    if (path.length === 0) return undefined;
    remove(value, path);
  }
  return value as object;
}

/** Returns where in `root` something is that does not fit. */
function reportMismatch(error: ErrorObject, root: unknown, prefix: Path, report: Report): Path | undefined {
  const inner = pathOf(error.instancePath, root);
  const path = [...prefix, ...inner];
  const schema = error.parentSchema as Schema;
  switch (error.keyword) {
    case 'required': {
      const { missingProperty } = error.params as { missingProperty: string };
      const expected = schema.properties?.[missingProperty]?.expected ?? 'it';
      const missing = [...path, missingProperty];
      if (!report.isBad(missing)) report.problem(missing, { expected, got: 'nothing', at: 'key' });
      return undefined;
    }
    case 'propertyNames': {
      const { propertyName } = error.params as { propertyName: string };
      const expected = schema.propertyNames?.expected ?? 'another name';
      report.problem([...path, propertyName], { expected, got: describe(propertyName), at: 'key' });
      return [...inner, propertyName];
    }
    default:
      report.problem(path, { expected: schema.expected ?? 'something else', got: describe(error.data, schema) });
      return inner;
  }
}

function reportUnknownKey(error: ErrorObject, root: unknown, prefix: Path, report: Report): Path {
  const inner = pathOf(error.instancePath, root);
  const parent = [...prefix, ...inner];
  const schema = error.parentSchema as Schema;
  const { additionalProperty: key } = error.params as { additionalProperty: string };
  const known = Object.keys(schema.properties ?? {});
  const near = nearest(key, known);
  const path = [...parent, key];
  if (isUnsupported(key, parent, known)) {
    report.problem(path, {
      expected: 'a setting that this version has',
      got: `"${key}", which is not supported yet`,
      todo: 'Remove it',
      at: 'key',
    });
  } else if (schema.secret === true && near === undefined) {
    // `- {the token itself}` is a key to YAML.
    report.problem(parent, { expected: schema.expected ?? 'known keys', got: 'a key that is not known (not shown)' });
  } else {
    const todo = near === undefined ? elsewhere(key, parent, known) : `Did you mean "${near}"?`;
    report.problem(path, { expected: 'a known key', got: describe(key), todo, at: 'key' });
    if (near !== undefined) report.suspect([...parent, near]);
  }
  return [...inner, key];
}

function isUnsupported(key: string, parent: Path, known: readonly string[]): boolean {
  if (parent.length === 0) return UNSUPPORTED.gateway.has(key);
  return UNSUPPORTED.deployment.has(key) && known.includes('path');
}

function elsewhere(key: string, parent: Path, known: readonly string[]): string {
  const isSetting = Object.hasOwn(SETTINGS, key);
  if (isSetting && parent.length === 0) return 'It belongs in "defaults", in a tenant or in a pack';
  if (Object.hasOwn(CONFIGURATION_SCHEMA.properties ?? {}, key)) return 'It belongs at the top of the file';
  return `Known here: ${known.join(', ')}`;
}

/** The steps of a JSON pointer; a step is an index where there is a list. */
function pathOf(pointer: string, root: unknown): Path {
  const path: (string | number)[] = [];
  let value = root;
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(value) ? Number(key) : key);
    value = (value as Record<string, unknown> | undefined)?.[key];
  }
  return path;
}

function remove(root: unknown, path: Path): void {
  let parent = root;
  for (const step of path.slice(0, -1)) parent = (parent as Record<string, unknown> | undefined)?.[step];
  const last = path.at(-1);
  if (Array.isArray(parent) && typeof last === 'number') parent[last] = undefined;
  else if (typeof parent === 'object' && parent !== null && last !== undefined) {
    delete (parent as Record<string, unknown>)[last];
  }
}
