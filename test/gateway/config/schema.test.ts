import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { CONFIGURATION_SCHEMA } from '../../../gateway/config/schema.ts';
import type { Schema } from '../../../gateway/config/schema.ts';
import { UNSUPPORTED } from '../../../gateway/config/unsupported.ts';

/** Every part of the schema that has a name, by its place. */
function named(schema: Schema, place = ''): [place: string, schema: Schema][] {
  const parts = Object.entries(schema.properties ?? {});
  if (typeof schema.additionalProperties === 'object') parts.push(['*', schema.additionalProperties]);
  return [
    [place, schema],
    ...parts.flatMap(([name, part]) => named(part, `${place}/${name}`)),
    ...(schema.items === undefined ? [] : named(schema.items, `${place}[]`)),
  ];
}

it('is valid JSON Schema 2020-12', () => {
  const ajv = new Ajv2020();
  expect(ajv.validateSchema(JSON.parse(JSON.stringify(CONFIGURATION_SCHEMA)) as object)).toBe(true);
});

it('says of every value what is expected, and of every setting what it means', () => {
  const parts = named(CONFIGURATION_SCHEMA);
  expect(parts.length).toBeGreaterThan(60);
  expect(parts.filter(([, { expected }]) => expected === undefined).map(([place]) => place)).toEqual([]);
  const silent = parts.filter(([place, { description }]) => !place.endsWith('[]') && description === undefined);
  expect(silent.map(([place]) => place)).toEqual([]);
});

it('allows unknown keys nowhere', () => {
  const open = named(CONFIGURATION_SCHEMA).filter(
    ([, { type, additionalProperties }]) => type === 'object' && additionalProperties === undefined,
  );
  expect(open.map(([place]) => place)).toEqual([]);
});

it('has none of the names that are not supported yet', () => {
  const names = new Set(named(CONFIGURATION_SCHEMA).map(([place]) => place.split('/').at(-1)));
  for (const name of [...UNSUPPORTED.gateway, ...UNSUPPORTED.deployment]) expect(names).not.toContain(name);
});
