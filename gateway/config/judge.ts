import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject } from 'ajv';
import { describe } from './describe.ts';
import { nearest } from './nearest.ts';
import type { Path } from './problem.ts';
import type { RawConfiguration } from './raw.ts';
import type { Report } from './report.ts';
import { CONFIGURATION_SCHEMA } from './schema.ts';
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
const validate = ajv.compile(CONFIGURATION_SCHEMA);

/**
 * Holds `value` against the schema. Everything that does not fit is reported and then taken out of `value` (which is
 * changed), so that the rest can be judged further in the same go.
 */
export function judge(value: unknown, report: Report): RawConfiguration {
  if (validate(value)) return value as RawConfiguration;
  const wrongPlaces: Path[] = [];
  const withUnknownKeys = new Set<string>();
  // Of alternatives only the whole is reported, and of a key that is wrong only that the mapping may not have it.
  const errors = (validate.errors ?? []).filter(
    ({ schemaPath, propertyName }) => !/\/(?:anyOf|oneOf)\//.test(schemaPath) && propertyName === undefined,
  );
  for (const error of errors) {
    if (error.keyword !== 'additionalProperties') continue;
    withUnknownKeys.add(error.instancePath);
    wrongPlaces.push(reportUnknownKey(error, value, report));
  }
  for (const error of errors) {
    if (error.keyword === 'additionalProperties') continue;
    // The alternatives are about which keys are there; the unknown one is probably one of them.
    if (error.keyword === 'oneOf' && withUnknownKeys.has(error.instancePath)) continue;
    const path = reportMismatch(error, value, report);
    if (path !== undefined) wrongPlaces.push(path);
  }
  for (const path of wrongPlaces) {
    if (path.length === 0) return {};
    remove(value, path);
  }
  return value as RawConfiguration;
}

function reportMismatch(error: ErrorObject, root: unknown, report: Report): Path | undefined {
  const path = pathOf(error.instancePath, root);
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
      return [...path, propertyName];
    }
    default:
      report.problem(path, { expected: schema.expected ?? 'something else', got: describe(error.data, schema) });
      return path;
  }
}

function reportUnknownKey(error: ErrorObject, root: unknown, report: Report): Path {
  const parent = pathOf(error.instancePath, root);
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
  return path;
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
